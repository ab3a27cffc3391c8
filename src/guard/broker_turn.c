/* SPDX-License-Identifier: MIT */
/*
 * One change at a time, of all commands and sessions of a user. Two of them may write in the same directories, and each
 * has a broker of its own: what one has judged the other could exchange before it is done (a configuration that was
 * read, a directory in which no link was found, one in which a name is missing that would make it git's). So a broker
 * has its turn from the first look to the deed, by a lock on a file in the state directory, which no sandbox can reach.
 *
 * It is given back before anything that may take long: git at work, a report, a caller that has to take a descriptor.
 * Who has it does a few system calls and does not wait for anybody, and the kernel takes it from who is killed. From one
 * that does not come to its end (it was stopped, the disk hangs) it is not waited for for ever: the change is
 * then refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "guard/broker_priv.h"

enum { STEP_US = 10, WAIT_MS = 20000 };

/* Where there is no such directory, or none that can be written, nobody else has it either. What a sandbox may bring about
 * (a full disk, too many open files) is no reason to go on without. */
static int open_turn(struct broker *b)
{
	b->turn = open(b->turn_path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (b->turn >= 0)
		return 0;
	if (errno != ENOENT && errno != ENOTDIR && errno != EACCES && errno != EROFS)
		return -errno;
	b->turn_path = NULL;
	return 0;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* It is a matter of microseconds. */
static int await_turn(int fd)
{
	const struct timespec step = { .tv_nsec = STEP_US * 1000L };
	int64_t end = 0;

	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		end = end ? end : now_ms() + WAIT_MS;
		if (now_ms() > end)
			return -EAGAIN;
		nanosleep(&step, NULL);
	}
	return 0;
}

int turn_take(struct request *r)
{
	struct broker *b = r->b;
	int e;

	if (r->has_turn || !b->turn_path)
		return 0;
	e = b->turn < 0 ? open_turn(b) : 0;
	if (e < 0 || !b->turn_path)
		return e;
	e = await_turn(b->turn);
	r->has_turn = e == 0;
	return e;
}

void turn_give(struct request *r)
{
	if (r->has_turn)
		flock(r->b->turn, LOCK_UN);
	r->has_turn = false;
}
