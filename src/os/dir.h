/* SPDX-License-Identifier: MIT */
/* Going through a directory: every name in it but "." and "..". */
#pragma once

#include <dirent.h>

#include "base/util.h"

/* The list of a directory that is open; the descriptor is the list's from now on, also when this fails. Of none (below
 * 0) there is no list. NULL and errno. */
DIR *os_dir_take(int fd);

/* The list of one in dir_fd, which is no link. "." is that directory itself, from its beginning. NULL and errno. */
DIR *os_dir_open(int dir_fd, const char *name);

/* The next one of a list, but for "." and ".."; NULL at the end. Its d_type is known on every file system, but of what is
 * just going. */
struct dirent *os_dir_read(DIR *list);

/* The same, and NULL where there is no list; here, where analyzers see that who has an entry has a list. */
static inline struct dirent *os_dir_next(DIR *list)
{
	return list ? os_dir_read(list) : NULL;
}

/* False also of what is no directory that can be read. */
bool os_dir_is_empty(int dir_fd, const char *name);

/* Somewhere on the way to an absolute path a name can be written with letters of the other case, and is the same file:
 * shares of Windows and macOS machines, Windows' disks under WSL, directories that are set so. Where the last names are
 * not there yet, those that are beside them tell. */
bool os_ignores_case(const char *path);

static inline void closedir_ptr(DIR **list)
{
	if (*list)
		(void)closedir(*list);
}
#define _cleanup_dir_ _cleanup_(closedir_ptr)
