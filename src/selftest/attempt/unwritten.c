/* SPDX-License-Identifier: MIT */
/*
 * What can be done to a file without a descriptor for writing: its owner needs none. Calls that a
 * kernel may not have yet are made in their older form there, so that the control works everywhere.
 */
#include "selftest/attempt/attempt.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

/* linux/stat.h and the tables of Linux 6.6, 6.13 and 6.17. */
enum { CALL_FCHMODAT2 = 452, CALL_SETXATTRAT = 463, CALL_FILE_SETATTR = 469 };

static int open_it(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? unable("%s: %m", path) : fd;
}

/* Whoever opens it for writing waits until the lease is broken, which takes most of a minute. */
int lease_file(const char *path)
{
	int fd = open_it(path);

	(void)signal(SIGIO, SIG_IGN);
	return fd < 0 ? fd : outcome(fcntl(fd, F_SETLEASE, F_RDLCK));
}

int flag_file(const char *path)
{
	int fd = open_it(path), flags = 0, changed;

	if (fd < 0)
		return fd;
	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0)
		return -errno;
	changed = flags ^ FS_NODUMP_FL;
	if (ioctl(fd, FS_IOC_SETFLAGS, &changed) < 0)
		return -errno;
	return outcome(ioctl(fd, FS_IOC_SETFLAGS, &flags));
}

int touch_file(const char *path)
{
	int fd = open_it(path);

	return fd < 0 ? fd : outcome(futimens(fd, NULL));
}

/* The flag for emptying it needs none for writing. */
int empty_file(const char *path)
{
	return outcome(open(path, O_RDONLY | O_TRUNC | O_CLOEXEC));
}

int chmod_link(const char *path)
{
	int fd = open(path, O_PATH | O_CLOEXEC);
	char link[64];

	if (fd < 0)
		return unable("%s: %m", path);
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return outcome(chmod(link, 0600));
}

int chmod_newer(const char *path)
{
	long r = syscall(CALL_FCHMODAT2, AT_FDCWD, path, 0600, 0);

	return r < 0 && errno == ENOSYS ? outcome(chmod(path, 0600)) : outcome(r);
}

int xattr_newer(const char *path)
{
	struct {
		uint64_t value;
		uint32_t size, flags;
	} args = { (uintptr_t) "x", 1, 0 };
	long r = syscall(CALL_SETXATTRAT, AT_FDCWD, path, 0, "user.wrapix", &args, sizeof(args));

	return r < 0 && errno == ENOSYS ? outcome(setxattr(path, "user.wrapix", "x", 1, 0))
					: outcome(r);
}

int flag_newer(const char *path)
{
	struct {
		uint64_t flags;
		uint32_t extent, n_extents, project, cow_extent;
	} args = { 0 };
	long r = syscall(CALL_FILE_SETATTR, AT_FDCWD, path, &args, sizeof(args), 0);

	return r < 0 && errno == ENOSYS ? flag_file(path) : outcome(r);
}
