/* SPDX-License-Identifier: MIT */
/* What git would obey, of what was kept apart. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "api/apart.h"
#include "base/path.h"
#include "cow/paths.h"
#include "os/fs.h"

static bool has(int root, const char *dir, const char *name)
{
	_cleanup_close_ int fd = os_openat2(root, dir, O_PATH | O_DIRECTORY | O_CLOEXEC, 0,
					    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	struct stat st;

	/* A mark for a removed file is not one. */
	return fd >= 0 && fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISCHR(st.st_mode);
}

/* What the session has there counts whether or not it is taken over now: halves may come one after the other. */
static bool is_repository(int upper, int lower, const char *dir)
{
	static const char *const names[] = { "HEAD", "objects", "refs", "commondir" };
	bool found[ARRAY_LEN(names)];

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		found[i] = has(lower, dir, names[i]) || has(upper, dir, names[i]);
	return found[0] && ((found[1] && found[2]) || found[3]);
}

bool apart_is_git(int upper, int lower, const char *file)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	const char *dir = file;

	if (is_in_git(file))
		return true;
	do {
		dir = strchr(dir, '/') ? path_parent(&arena, dir) : ".";
		if (is_repository(upper, lower, dir))
			return true;
	} while (strcmp(dir, ".") != 0);
	return false;
}
