/* SPDX-License-Identifier: MIT */
/* What git obeys because a configuration names it. */
#include "spec/gitnamed.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"
#include "os/dir.h"
#include "os/fs.h"
#include "spec/gitkeys.h"
#include "spec/project.h"

/* Of includes git's own, of links the kernel's. */
enum { DEPTH_MAX = 10, FILES_MAX = 200, LINKS_MAX = 40 };

struct search {
	struct arena *arena;
	const struct host *host;
	struct gitnamed_list *ret;
	int files;
};

static void add(const struct search *s, const char *path, bool hooks)
{
	const char *below = path ? path_below(path, s->host->project.dir) : NULL;

	if (below && *below)
		*(struct gitnamed *)arena_grow(s->arena, (void *)&s->ret->v, &s->ret->n,
					       sizeof(*s->ret->v)) = (struct gitnamed){
			arena_strdup(s->arena, below), hooks
		};
}

/* A path with the first link on it followed; NULL: there is none. */
static char *follow_one(struct arena *arena, const char *path)
{
	char target[PATH_MAX];

	for (const char *end = path; *end;) {
		const char *link;
		ssize_t n;

		end += strspn(end, "/");
		end += strcspn(end, "/");
		link = arena_strndup(arena, path, (size_t)(end - path));
		n = readlink(link, target, sizeof(target) - 1);
		if (n <= 0)
			continue;
		target[n] = '\0';
		link = path_join(arena, path_parent(arena, link), target);
		return path_join(arena, link, end + strspn(end, "/"));
	}
	return NULL;
}

/* A path, and where it leads: by each link on the way, also to what is not there yet. */
static void add_way(const struct search *s, const char *path, bool hooks)
{
	add(s, os_realpath(s->arena, path), hooks);
	for (int i = 0; i < LINKS_MAX && path; i++) {
		add(s, path, hooks);
		path = follow_one(s->arena, path);
	}
}

/* The path that a value means, which is added; NULL: that of somebody else's home. */
static char *name(const struct search *s, const char *base, const char *value, bool hooks)
{
	char *path = path_join(s->arena, base, value);

	if (str_starts(value, "~/"))
		path = path_join(s->arena, s->host->home, value + 2);
	else if (*value == '~')
		return NULL;
	add_way(s, path, hooks);
	return path;
}

/* Each may be a link to a file of the tree. */
static void name_hooks(const struct search *s, const char *base, const char *value)
{
	char *path = name(s, base, value, true);
	_cleanup_dir_ DIR *dir = path ? opendir(path) : NULL;
	const struct dirent *entry;

	if (path)
		strv_add(s->arena, &s->ret->hooks, path);
	while ((entry = os_dir_next(dir)) != NULL)
		if (entry->d_type == DT_LNK)
			name(s, path, entry->d_name, false);
}

static void look_in(struct search *s, const char *file, int depth)
{
	_cleanup_free_ char *text = NULL;
	struct gitkeys keys = { 0 };
	size_t len;

	if (depth > DEPTH_MAX || ++s->files > FILES_MAX ||
	    os_read_file_at(AT_FDCWD, file, GITKEYS_MAX, &text, &len) < 0)
		return;
	gitkeys_gather(s->arena, text, len, &keys);
	for (size_t i = 0; i < keys.n; i++) {
		const char *key = keys.keys[i].name, *value = keys.keys[i].value, *path;

		if (!strcmp(key, "core.hookspath")) {
			name_hooks(s, s->host->project.top, value);
		} else if (str_starts(key, "include") && !strcmp(strrchr(key, '.'), ".path")) {
			path = name(s, path_parent(s->arena, file), value, false);
			if (path)
				look_in(s, path, depth + 1);
		}
	}
}

void gitnamed_find(struct arena *arena, const struct host *host, struct gitnamed_list *ret)
{
	const struct project_facts *project = &host->project;
	bool linked = project->git == GIT_LINKED;
	const char *own = linked ? project->gitdir : path_join(arena, project->top, ".git");
	const char *common = linked ? project->commondir : own;
	const char *global = getenv("GIT_CONFIG_GLOBAL");
	struct search s = { .arena = arena, .host = host, .ret = ret };
	const char *const files[] = {
		path_join(arena, common, "config"),
		path_join(arena, own, "config.worktree"),
		path_join(arena, host->home, ".gitconfig"),
		path_join(arena, host->config_home, "git/config"),
		"/etc/gitconfig",
		global ? global : "",
	};

	*ret = (struct gitnamed_list){ 0 };
	if (project->git == GIT_NONE)
		return;
	name_hooks(&s, common, "hooks");
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		look_in(&s, files[i], 0);
}

void gitnamed_find_in(struct arena *arena, const char *dir, struct gitnamed_list *ret)
{
	struct host host = { .uid = geteuid() };
	const char *home = user_home(&host.arena), *config = getenv("XDG_CONFIG_HOME");

	host.home = os_realpath(&host.arena, home);
	if (!host.home)
		host.home = path_join(&host.arena, "/", home);
	host.config_home = config && config[0] == '/'
				   ? arena_strdup(&host.arena, config)
				   : path_join(&host.arena, host.home, ".config");
	host.project.dir = arena_strdup(&host.arena, dir);
	project_probe_git(&host);
	gitnamed_find(arena, &host, ret);
	arena_release(&host.arena);
}
