/* SPDX-License-Identifier: MIT */
/* Links whose names count, and where they lead. A link is followed by a look alone: nothing is opened through it. */
#include "cow/aliases.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "cow/paths.h"
#include "cow/way.h"
#include "os/dir.h"
#include "os/fs.h"

enum { DEPTH_MAX = 64, ENTRIES_MAX = 500000, ALIASES_MAX = 2000, LINKS_MAX = 8 };

/* What is in a directory of that name may count although the name itself does not. */
static bool counts(const char *link)
{
	char first[32], second[64];

	if (sensitive_class(link, NULL))
		return true;
	for (size_t i = 0; sensitive_pair(i, first, second); i++)
		if (!strcasecmp(path_name(link), first))
			return true;
	return false;
}

/* A link to nothing yet: who makes that, as a file or a directory, makes what the link's name stands for. */
static const char *missing_target_of(int root, const char *project, const char *link,
				     char buf[PATH_MAX], bool *ret_dir)
{
	*ret_dir = true;
	return way_find(&(struct way_view){ &root, 1, project }, link, buf) ? buf : NULL;
}

/* Where it leads in the project, in buf; NULL: elsewhere. */
static const char *target_of(int root, const char *project, const char *link, char buf[PATH_MAX],
			     bool *ret_dir)
{
	_cleanup_close_ int fd = openat(root, link, O_PATH | O_CLOEXEC);
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return missing_target_of(root, project, link, buf, ret_dir);
	if (fd < 0 || fstat(fd, &st) < 0 || os_fd_name(fd, buf) <= 0)
		return NULL;
	*ret_dir = S_ISDIR(st.st_mode);
	return path_below(buf, project);
}

static void add(struct aliases *aliases, struct arena *arena, const char *path, const char *link,
		bool dir)
{
	*(struct alias *)arena_grow(arena, &aliases->v, &aliases->n,
				    sizeof(*aliases->v)) = (struct alias){
		arena_strdup(arena, path), strlen(path), arena_strdup(arena, link), dir
	};
}

/* Links on the way, as '.vscode' to 'a' to 'b': who changes 'a' changes where it leads. */
static void add_way(struct aliases *aliases, struct arena *arena, int root, const char *project,
		    const char *link)
{
	const char *at = path_join(arena, project, link), *below;
	char text[PATH_MAX];
	struct stat st;
	ssize_t n;

	for (int i = 0; i < LINKS_MAX && (below = path_below(at, project)) != NULL && *below; i++) {
		n = readlinkat(root, below, text, sizeof(text) - 1);
		if (n <= 0)
			return;
		text[n] = '\0';
		at = path_join(arena, path_parent(arena, at), text);
		below = path_below(at, project);
		if (below && *below && fstatat(root, below, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISLNK(st.st_mode))
			add(aliases, arena, below, link, false);
	}
}

void aliases_add(struct aliases *aliases, struct arena *arena, int root, const char *project,
		 const char *link)
{
	char buf[PATH_MAX];
	const char *path;
	bool dir = false;

	path = target_of(root, project, link, buf, &dir);
	if (!path || !*path || is_in_git(path) || path_is_below(link, path))
		return;
	if (aliases->n >= ALIASES_MAX) {
		aliases->partial = true;
		return;
	}
	add(aliases, arena, path, link, dir);
	add_way(aliases, arena, root, project, link);
}

void aliases_take(struct aliases *aliases, struct arena *arena, int root, const char *project,
		  const char *link)
{
	if (!sensitive_bulk(link) && counts(link))
		aliases_add(aliases, arena, root, project, link);
}

struct walk {
	struct aliases *aliases;
	struct arena *arena;
	const char *project;
	int root;
	size_t entries;
	char path[PATH_MAX];
	size_t len;
};

static void look_in(struct walk *w, int at, const char *name, int depth)
{
	_cleanup_dir_ DIR *list = os_dir_open(at, name);
	size_t len = w->len;
	const struct dirent *entry;

	if (!list) {
		w->aliases->partial |= errno != EACCES && errno != ENOENT;
		return;
	}
	while (w->entries < ENTRIES_MAX && (entry = os_dir_next(list)) != NULL) {
		size_t n = strlen(entry->d_name);
		bool dir = entry->d_type == DT_DIR, link = entry->d_type == DT_LNK;

		w->entries++;
		if ((!dir && !link) || is_git_name(entry->d_name))
			continue;
		if (len + n + 2 > sizeof(w->path) || (dir && depth == DEPTH_MAX)) {
			w->aliases->partial = true;
			continue;
		}
		snprintf(w->path + len, sizeof(w->path) - len, "%s%s", len ? "/" : "",
			 entry->d_name);
		w->len = len + n + (len != 0);
		if (link)
			aliases_take(w->aliases, w->arena, w->root, w->project, w->path);
		else if (!sensitive_bulk(w->path))
			look_in(w, dirfd(list), entry->d_name, depth + 1);
		w->len = len;
	}
	w->aliases->partial |= w->entries >= ENTRIES_MAX;
}

void aliases_find(struct aliases *aliases, struct arena *arena, const char *project)
{
	_cleanup_close_ int root = os_open_plain(project);
	struct walk w = { .aliases = aliases, .arena = arena, .project = project, .root = root };

	if (root >= 0)
		look_in(&w, root, ".", 0);
}

const char *aliases_name(const struct aliases *aliases, size_t i, const char *path,
			 char buf[PATH_MAX])
{
	const struct alias *alias = &aliases->v[i];

	/* Whatever case the names have: some file systems do not tell. */
	if (strncasecmp(path, alias->path, alias->len) != 0 ||
	    (path[alias->len] && path[alias->len] != '/'))
		return NULL;
	return snprintf(buf, PATH_MAX, "%s%s", alias->link, path + alias->len) < PATH_MAX ? buf
											  : NULL;
}

const char *aliases_obeyed(const struct aliases *aliases, const char *path, char buf[PATH_MAX])
{
	for (size_t i = 0; aliases && i < aliases->n && !sensitive_class(path, NULL); i++)
		if (aliases_name(aliases, i, path, buf) && sensitive_class(buf, NULL))
			return buf;
	return path;
}
