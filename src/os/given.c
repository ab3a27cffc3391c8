/* SPDX-License-Identifier: MIT */
/* A file that the user names to be written; whoever writes around it may have put links on its way. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/path.h"
#include "os/fs.h"

int os_open_given(const char *path)
{
	struct arena a = { 0 };
	const char *name = strrchr(path, '/');
	const char *dir = name ? arena_strndup(&a, path, (size_t)(name - path) + 1) : ".";
	const char *here = os_realpath(&a, ".");
	char *real = os_realpath(&a, dir); /* '..' after a link is what the kernel means by it */
	int fd = -errno;

	if (real && here && path_is_below(path_join(&a, here, dir), here) &&
	    !path_is_below(real, here))
		fd = -ELOOP;
	else if (real)
		fd = os_openat2(AT_FDCWD, real, O_PATH | O_DIRECTORY | O_CLOEXEC, 0,
				RESOLVE_NO_SYMLINKS);
	arena_release(&a);
	return fd;
}
