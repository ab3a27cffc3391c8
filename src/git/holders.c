/* SPDX-License-Identifier: MIT */
/*
 * Which gits are at work in a repository: those of this user's that stand in its work tree or in its git directory, in whatever
 * mount namespace, or that were told its place. A lock that nobody has put his name to may be one's of these.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "git/priv.h"
#include "os/dir.h"
#include "os/fs.h"

enum { DEPTH_MAX = 128, WORDS_MAX = 1 << 18 };

/* Upwards from where it stands. */
static bool stands_in(const char *pid, const struct stat *places, size_t n)
{
	struct stat now, before = { 0 };
	char name[64];
	int fd, up;

	snprintf(name, sizeof(name), "/proc/%.20s/cwd", pid);
	fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int depth = 0; fd >= 0 && depth < DEPTH_MAX && fstat(fd, &now) == 0; depth++) {
		bool top = os_same_file(&now, &before);

		for (size_t i = 0; i < n; i++)
			if (os_same_file(&now, &places[i]))
				return close(fd) == 0;
		if (top)
			break;
		before = now;
		up = openat(fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(fd);
		fd = up;
	}
	if (fd >= 0)
		close(fd);
	return false;
}

/* In its arguments or its environment. */
static bool was_told(const char *pid, const char *file, const char *place)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int fd = -1;
	char name[64];
	size_t len;

	snprintf(name, sizeof(name), "/proc/%.20s/%s", pid, file);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || os_read_fd(fd, WORDS_MAX, &text, &len) < 0)
		return false;
	known(text && place);
	for (const char *p = text; p < text + len; p += strlen(p) + 1)
		if (strstr(p, place))
			return true;
	return false;
}

static bool is_git(const char *pid)
{
	char name[64], text[16];
	struct stat st;

	snprintf(name, sizeof(name), "/proc/%.20s/comm", pid);
	return stat(name, &st) == 0 && st.st_uid == geteuid() &&
	       os_read_start_at(AT_FDCWD, name, text, sizeof(text)) > 0 &&
	       (!strcmp(text, "git\n") || str_starts(text, "git-"));
}

bool git_holds(const struct git_store *store, const char *pid)
{
	const char *const paths[] = { store->top, store->real, store->common };
	struct stat places[ARRAY_LEN(paths)];
	size_t n = 0;

	if (!is_git(pid))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		n += paths[i] && stat(paths[i], &places[n]) == 0;
	return stands_in(pid, places, n) || was_told(pid, "cmdline", store->common) ||
	       was_told(pid, "environ", store->common);
}

void git_find_holders(const struct git_store *store, struct arena *arena, struct strv *ret)
{
	_cleanup_dir_ DIR *dir = opendir("/proc");
	struct dirent *entry;

	while ((entry = os_dir_next(dir)) != NULL)
		if (entry->d_name[strspn(entry->d_name, "0123456789")] == '\0' &&
		    git_holds(store, entry->d_name))
			strv_add(arena, ret, entry->d_name);
}
