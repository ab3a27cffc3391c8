/* SPDX-License-Identifier: MIT */
/* Changes in a directory, by inotify. */
#include "os/watch.h"

#include <errno.h>
#include <sys/inotify.h>
#include <unistd.h>

int os_watch_dir(const char *path)
{
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK), code;

	if (fd < 0 || inotify_add_watch(fd, path, IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE) >= 0)
		return fd;
	code = errno;
	close(fd);
	errno = code;
	return -1;
}

void os_watch_take(int fd)
{
	char events[4096];

	while (read(fd, events, sizeof(events)) > 0)
		;
}
