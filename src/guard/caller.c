/* SPDX-License-Identifier: MIT */
/* Looking at the process that hangs in a notified system call. */
#include "guard/caller.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "os/fs.h"
#include "os/linux/kernel.h"

#define PAGE 4096

#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL /* Linux 6.9 */
#endif

bool caller_status_number(const char *status, const char *key, int base, uint64_t *ret)
{
	const char *at = strstr(status, key);

	if (!at)
		return false;
	*ret = strtoull(at + strlen(key), NULL, base);
	return true;
}

int caller_read_proc(const struct seccomp_notif *call, const char *name, char *buf, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/%s", call->pid, name);
	n = os_read_start_at(AT_FDCWD, path, buf, size);
	return n < 0 ? (int)n : 0;
}

int caller_open(const struct seccomp_notif *call)
{
	int fd = (int)syscall(SYS_pidfd_open, (pid_t)call->pid, PIDFD_THREAD);
	char status[PAGE];
	uint64_t tgid;

	if (fd < 0 && errno == EINVAL)
		fd = (int)syscall(SYS_pidfd_open, (pid_t)call->pid, 0);
	if (fd >= 0 || errno == ESRCH)
		return fd < 0 ? -errno : fd;
	/* An older kernel, and no leader of its process. */
	if (caller_read_proc(call, "status", status, sizeof(status)) < 0 ||
	    !caller_status_number(status, "\nTgid:", 10, &tgid))
		return -ESRCH;
	fd = (int)syscall(SYS_pidfd_open, (pid_t)tgid, 0);
	return fd < 0 ? -errno : fd;
}

int caller_get_fd(int pidfd, int fd)
{
	int copy = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);

	return copy < 0 ? -errno : copy;
}

int caller_read(const struct seccomp_notif *call, uint64_t address, void *buf, size_t len)
{
	struct iovec here = { buf, len };
	struct iovec there = { (void *)(uintptr_t)address, len };

	return process_vm_readv((pid_t)call->pid, &here, 1, &there, 1, 0) == (ssize_t)len ? 0
											  : -EFAULT;
}

int caller_write(const struct seccomp_notif *call, uint64_t address, const void *buf, size_t len)
{
	struct iovec here = { (void *)buf, len };
	struct iovec there = { (void *)(uintptr_t)address, len };

	return process_vm_writev((pid_t)call->pid, &here, 1, &there, 1, 0) == (ssize_t)len
		       ? 0
		       : -EFAULT;
}

/* Not beyond the page that its end is in: the next one may not be there. And few are long. */
static size_t first_piece(uint64_t address)
{
	return MIN(PAGE - address % PAGE, (size_t)CALLER_PIECE);
}

int caller_read_paths(const struct seccomp_notif *call, const uint64_t address[2],
		      char first[CALLER_PIECE], char second[CALLER_PIECE])
{
	size_t n = first_piece(address[0]), n2 = first_piece(address[1]);
	struct iovec here[] = { { first, n }, { second, n2 } };
	struct iovec there[] = { { (void *)(uintptr_t)address[0], n },
				 { (void *)(uintptr_t)address[1], n2 } };
	const char *end;

	if (process_vm_readv((pid_t)call->pid, here, 2, there, 2, 0) != (ssize_t)(n + n2))
		return -EAGAIN;
	end = memchr(first, '\0', n);
	return end && memchr(second, '\0', n2) ? (int)(end - first) : -EAGAIN;
}

int caller_read_path(const struct seccomp_notif *call, uint64_t address, char buf[PATH_MAX])
{
	size_t n = 0;

	while (n < PATH_MAX) {
		uint64_t at = address + n;
		size_t len = n ? MIN(PAGE - at % PAGE, PATH_MAX - n) : first_piece(at);
		const char *end;

		if (caller_read(call, at, buf + n, len) < 0)
			return -EFAULT;
		end = memchr(buf + n, '\0', len);
		if (end)
			return (int)(end - buf);
		n += len;
	}
	return -ENAMETOOLONG;
}

int caller_open_dir(const struct seccomp_notif *call, const char *which)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/%s", call->pid, which);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

bool caller_is_interrupted(const struct seccomp_notif *call)
{
	uint64_t pending, shared, blocked, caught;
	char status[PAGE];

	if (caller_read_proc(call, "status", status, sizeof(status)) < 0 ||
	    !caller_status_number(status, "\nSigPnd:", 16, &pending) ||
	    !caller_status_number(status, "\nShdPnd:", 16, &shared) ||
	    !caller_status_number(status, "\nSigBlk:", 16, &blocked) ||
	    !caller_status_number(status, "\nSigCgt:", 16, &caught))
		return false;
	return (pending | shared) & caught & ~blocked;
}

mode_t caller_umask(const struct seccomp_notif *call)
{
	char status[PAGE];
	uint64_t mask;

	if (caller_read_proc(call, "status", status, sizeof(status)) < 0 ||
	    !caller_status_number(status, "\nUmask:", 8, &mask))
		return 077;
	return (mode_t)(mask & 0777);
}
