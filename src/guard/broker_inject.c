/* SPDX-License-Identifier: MIT */
/*
 * Giving a file to the caller: the kernel puts the descriptor into it, as the result of its call. Never a directory,
 * where writing was asked for: a later call relative to one would find the writable tree.
 */
#include <errno.h>
#include <fcntl.h>

#include "guard/broker_priv.h"
#include "os/linux/kernel.h"
#include "os/linux/processor.h"

/* While we have it open as well, a fifo has one more at that end, and a program cannot be started. */
static bool must_be_alone(mode_t mode)
{
	return S_ISFIFO(mode) || (mode & 0111);
}

static bool is_to_be_alone(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 || must_be_alone(st.st_mode);
}

/* Of a caller that is gone, or was answered, nobody waits. */
static int not_given(int r)
{
	return r == -ENOENT || r == -EINPROGRESS ? NOTIFY_LATER : r;
}

/* The caller is woken to take it, and wakes us: on one processor, where another that is idle would have to be woken, too.
 * It is released at once, because it can see what it has; we are not. */
static int give(const struct request *r, struct seccomp_notif_addfd *add)
{
	pid_t caller = (pid_t)r->notif->pid;
	struct processor_kept its;
	int number;

	processor_keep(caller, &its);
	if (its.kept)
		processor_stay();
	number = notify_ask(r->notify, SECCOMP_IOCTL_NOTIF_ADDFD, add);
	if (number < 0)
		number = -errno;
	processor_release(caller, &its);
	return number;
}

/* Two steps. In one (SECCOMP_ADDFD_FLAG_SEND) the call counts as answered before the caller has the descriptor, and
 * whoever stops us in that moment has it return 0. Where we may not have it open as well ours is closed in between: the
 * caller waits until it is told of its own. The number stays taken, by something else, because whoever opened the file
 * closes it. */
static int inject(struct request *r, int fd, int flags, bool alone)
{
	struct seccomp_notif_addfd add = {
		.id = r->notif->id,
		.srcfd = (uint32_t)fd,
		.newfd_flags = flags & O_CLOEXEC,
	};
	int number;

	turn_give(r);
	number = give(r, &add);
	if (number < 0)
		return not_given(number);
	if (alone)
		dup3(r->b->own_fds, fd, O_CLOEXEC);
	notify_answer_value(r->notify, add.id, number); /* it is dead where this fails */
	return NOTIFY_LATER;
}

int open_inject_any(struct request *r, int fd, int flags)
{
	return inject(r, fd, flags, is_to_be_alone(fd));
}

int open_inject_file(struct request *r, int fd, int flags)
{
	return inject(r, fd, flags, (flags & O_ACCMODE) != O_RDONLY && is_to_be_alone(fd));
}

int open_inject(struct request *r, int fd, int flags)
{
	struct stat st;

	/* Nobody can open a directory for writing. */
	if ((flags & O_ACCMODE) == O_RDONLY && (fstat(fd, &st) < 0 || S_ISDIR(st.st_mode)))
		return -EISDIR;
	return open_inject_any(r, fd, flags);
}

int open_inject_as(struct request *r, int fd, int flags, mode_t mode)
{
	return (flags & O_ACCMODE) == O_RDONLY ? open_inject(r, fd, flags)
					       : inject(r, fd, flags, must_be_alone(mode));
}
