/* SPDX-License-Identifier: MIT */
/* Going through a directory; see dir.h. */
#include "os/dir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

DIR *os_dir_take(int fd)
{
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	int code = errno;

	if (!list && fd >= 0)
		close(fd);
	errno = code;
	return list;
}

DIR *os_dir_open(int dir_fd, const char *name)
{
	return os_dir_take(openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/* Many file systems say what an entry is, and the others are asked. */
static void complete(int dir_fd, struct dirent *entry)
{
	struct stat st;

	if (entry->d_type == DT_UNKNOWN &&
	    fstatat(dir_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		entry->d_type = IFTODT(st.st_mode);
}

struct dirent *os_dir_read(DIR *list)
{
	struct dirent *entry;

	do
		entry = readdir(list);
	while (entry && (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")));
	if (entry)
		complete(dirfd(list), entry);
	return entry;
}

bool os_dir_is_empty(int dir_fd, const char *name)
{
	_cleanup_dir_ DIR *list = os_dir_open(dir_fd, name);

	return list && !os_dir_next(list);
}

#ifndef AT_NO_AUTOMOUNT
#define AT_NO_AUTOMOUNT 0
#endif

enum { LOOK = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT };

/* Changes the case of the name's first letter and back; false: it has none. */
static bool turn_case(char *name)
{
	for (; *name; name++)
		if ((*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z')) {
			*name ^= 'a' ^ 'A';
			return true;
		}
	return false;
}

/* path ends in name, and is st. */
static bool is_by_other_case(int dir, const char *path, char *name, const struct stat *st)
{
	struct stat other;
	bool same;

	if (!turn_case(name))
		return false;
	same = fstatat(dir, path, &other, LOOK) == 0 && other.st_dev == st->st_dev &&
	       other.st_ino == st->st_ino;
	turn_case(name);
	return same;
}

/* The first name that has a letter tells of all. */
static bool dir_ignores_case(const char *path)
{
	_cleanup_dir_ DIR *list = opendir(path);
	struct dirent *entry;

	while ((entry = os_dir_next(list)) != NULL) {
		char name[NAME_MAX + 1];
		struct stat st;

		snprintf(name, sizeof(name), "%s", entry->d_name);
		if (!turn_case(name) || fstatat(dirfd(list), entry->d_name, &st, LOOK) < 0)
			continue;
		turn_case(name);
		return is_by_other_case(dirfd(list), name, name, &st);
	}
	return false;
}

bool os_ignores_case(const char *path)
{
	char way[PATH_MAX];
	size_t n = 0;

	if (snprintf(way, sizeof(way), "%s", path) >= (int)sizeof(way))
		return false;
	while (path[n]) {
		size_t name = n + strspn(path + n, "/");
		struct stat st;

		n = name + strcspn(path + name, "/");
		way[n] = '\0';
		if (fstatat(AT_FDCWD, way, &st, LOOK) < 0) {
			way[name] = '\0';
			return dir_ignores_case(way);
		}
		if (is_by_other_case(AT_FDCWD, way, way + name, &st))
			return true;
		way[n] = path[n];
	}
	return false;
}
