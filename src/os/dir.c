/* SPDX-License-Identifier: MIT */
/* Going through a directory; see dir.h. */
#include "os/dir.h"

#include <errno.h>
#include <fcntl.h>
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
