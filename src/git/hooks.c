/* SPDX-License-Identifier: MIT */
/* The user's hooks, which run inside: copies of them. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "git/priv.h"
#include "os/dir.h"
#include "os/fs.h"
#include "session/record.h"

enum { LINKS_MAX = 40 };

bool git_is_sample(const char *name)
{
	const char *ending = strrchr(name, '.');

	return ending && !strcmp(ending, ".sample");
}

static bool in_project(const struct git_store *store, const char *path)
{
	return path && (path_is_below(path, store->top) || path_is_below(path, store->project));
}

/* ... and where a session may have put a link. */
static bool in_tree(const struct git_store *store, const char *path)
{
	return in_project(store, path) && !path_is_below(path, store->common) &&
	       !path_is_below(path, store->real);
}

/* Whether a name is looked for in the project on the way from there. Where it cannot be told it is. */
static bool goes_through(struct arena *a, const struct git_store *store, const char *from,
			 const char *way)
{
	char target[PATH_MAX];
	ssize_t n;

	for (int links = 0; links < LINKS_MAX;) {
		char *name, *next;

		way += strspn(way, "/");
		if (!*way)
			return false;
		name = arena_strndup(a, way, strcspn(way, "/"));
		way += strlen(name);
		if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && in_tree(store, from))
			return true;
		next = path_join(a, from, name);
		n = readlink(next, target, sizeof(target) - 1);
		if (n < 0) {
			from = next;
			continue;
		}
		target[n] = '\0';
		links++;
		from = *target == '/' ? "/" : from;
		way = arena_printf(a, "%s/%s", target, way);
	}
	return true;
}

/* What leads through the project and out of it does so by a link that a session may have put there, to what it is not to see. */
static int open_hooks(struct arena *a, const struct git_store *store, const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *own = path_below(path, store->common);

	if (fd < 0 || in_project(store, os_realpath(a, arena_printf(a, "/proc/self/fd/%d", fd))))
		return fd < 0 ? -1 : take_fd(&fd);
	return goes_through(a, store, own ? store->common : "/", own ? own : path) ? -1
										   : take_fd(&fd);
}

int git_open_hooks(const struct git_store *store, const char *other)
{
	struct arena a = { 0 };
	const char *path = other          ? other
			   : store->hooks ? store->hooks
					  : path_join(&a, store->common, "hooks");
	int fd = git_is_strict(store) && !other ? git_open_host(store, path)
						: open_hooks(&a, store, path);

	arena_release(&a);
	return fd;
}

/* The user's hooks run inside. A second copy, which stays out of the session's reach, shows later which
 * it changed. Samples are nobody's. */
int git_copy_hooks(const struct git_store *store, int to, const char *hooks, struct err *err)
{
	int fd = git_open_hooks(store, hooks);
	_cleanup_dir_ DIR *dir = os_dir_take(fd);
	const int targets[] = { to, store->dir };
	struct dirent *entry;
	int r = 0;

	for (size_t i = 0; dir && r == 0 && i < ARRAY_LEN(targets); i++) {
		_cleanup_close_ int target = -1;

		if (mkdirat(targets[i], "hooks", 0755) < 0 ||
		    (target = record_open_dir(targets[i], "hooks")) < 0)
			r = err_errno(err, errno, "copying the hooks");
		rewinddir(dir);
		while (r == 0 && (entry = os_dir_next(dir)) != NULL)
			if (entry->d_name[0] != '.' && !git_is_sample(entry->d_name) &&
			    (!store->hooks || entry->d_type == DT_REG))
				r = git_copy_file(fd, entry->d_name, target, err);
	}
	return r;
}
