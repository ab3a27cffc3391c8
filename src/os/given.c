/* SPDX-License-Identifier: MIT */
/* A file that the user names to be written; whoever writes around it may have put links on its way. */
#include <errno.h>
#include <fcntl.h>

#include "base/path.h"
#include "os/fs.h"

int os_open_given(const char *path)
{
	struct arena a = { 0 };
	const char *here = os_realpath(&a, ".");
	char *parent = *path == '/' || here
			       ? path_parent(&a, path_join(&a, here ? here : "/", path))
			       : NULL;
	char *real = parent ? os_realpath(&a, parent) : NULL;
	int fd = -errno;

	if (real && here && path_is_below(parent, here) && !path_is_below(real, here))
		fd = -ELOOP;
	else if (real)
		fd = os_openat2(AT_FDCWD, real, O_PATH | O_DIRECTORY | O_CLOEXEC, 0,
				RESOLVE_NO_SYMLINKS);
	arena_release(&a);
	return fd;
}
