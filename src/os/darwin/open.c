/* SPDX-License-Identifier: MIT */
/*
 * Opening by rules of resolution, a component at a time. Where Linux would follow a link and look where it
 * leads, this refuses the link: it is never more open.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "os/fs.h"

bool os_same_mount(int a, int b)
{
	struct stat one, other;

	return fstat(a, &one) == 0 && fstat(b, &other) == 0 && one.st_dev == other.st_dev;
}

static int step(int dir_fd, const char *path, int flags, mode_t mode, uint64_t resolve)
{
	char name[NAME_MAX + 1];
	size_t len = strcspn(path, "/"), next = len + strspn(path + len, "/");
	_cleanup_close_ int fd = -1;

	if (len > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(name, path, len);
	name[len] = '\0';
	if (!strcmp(name, ".."))
		return -EXDEV;
	if (!path[next]) {
		fd = openat(dir_fd, len ? name : ".", flags | O_NOFOLLOW | O_CLOEXEC, mode);
		if (fd < 0)
			return -errno;
		if ((resolve & RESOLVE_NO_XDEV) && !os_same_mount(dir_fd, fd))
			return -EXDEV;
		return take_fd(&fd);
	}
	fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if ((resolve & RESOLVE_NO_XDEV) && !os_same_mount(dir_fd, fd))
		return -EXDEV;
	return step(fd, path + next, flags, mode, resolve);
}

int os_openat2(int dir_fd, const char *path, int flags, mode_t mode, uint64_t resolve)
{
	int fd;

	if (resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT)) {
		if (path[0] == '/' && !(resolve & RESOLVE_IN_ROOT))
			return -EXDEV;
		return step(dir_fd, path + strspn(path, "/"), flags, mode, resolve);
	}
	fd = openat(dir_fd, path,
		    flags | O_CLOEXEC | (resolve & RESOLVE_NO_SYMLINKS ? O_NOFOLLOW_ANY : 0), mode);
	return fd < 0 ? -errno : fd;
}
