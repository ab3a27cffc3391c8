/* SPDX-License-Identifier: MIT */
/*
 * Further git directories of a project: those of its submodules, below the repository's modules/, and
 * the object directories that its repositories borrow from (objects/info/alternates).
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/str.h"
#include "os/dir.h"
#include "os/fs.h"
#include "os/proc.h"
#include "spec/gitconfig.h"
#include "spec/project.h"

enum { MODULES_MAX = 200, DEPTH_MAX = 12, BORROWED_MAX = 16, FILE_MAX = 65536 };

static bool is_dir(struct arena *a, const char *dir, const char *name, uid_t owner)
{
	struct stat st;

	return lstat(path_join(a, dir, name), &st) == 0 && S_ISDIR(st.st_mode) &&
	       st.st_uid == owner;
}

static bool is_git_dir(struct arena *a, const char *dir, uid_t owner)
{
	struct stat st;

	return lstat(path_join(a, dir, "HEAD"), &st) == 0 && is_dir(a, dir, "objects", owner) &&
	       is_dir(a, dir, "refs", owner);
}

/* Where a submodule's files are, below the top; NULL when it is not checked out there. */
static char *work_tree(struct host *host, const char *gitdir)
{
	struct arena *a = &host->arena;
	_cleanup_free_ char *config = NULL, *link = NULL;
	char *path, *back;

	if (os_read_file_at(AT_FDCWD, path_join(a, gitdir, "config"), FILE_MAX, &config, NULL) < 0)
		return NULL;
	path = gitconfig_get(a, config, "core", "worktree");
	path = path ? os_realpath(a, path_join(a, gitdir, path)) : NULL;
	if (!path || !path_is_below(path, host->project.top) || !strcmp(path, host->project.top) ||
	    os_read_file_at(AT_FDCWD, path_join(a, path, ".git"), FILE_MAX, &link, NULL) < 0 ||
	    !str_starts(link, "gitdir: "))
		return NULL;
	link[strcspn(link, "\n")] = '\0';
	back = os_realpath(a, path_join(a, path, link + 8));
	return back && !strcmp(back, gitdir) ? arena_strdup(a, path_below(path, host->project.top))
					     : NULL;
}

/* Names may have slashes, and a submodule submodules of its own. The outer ones come first. */
static void find_modules(struct host *host, const char *dir, int depth)
{
	struct path_facts *found = &host->project.modules;
	struct arena *a = &host->arena;
	_cleanup_dir_ DIR *list = depth < DEPTH_MAX ? opendir(dir) : NULL;
	struct dirent *entry;

	while (found->len < MODULES_MAX && (entry = os_dir_next(list)) != NULL) {
		char *path = path_join(a, dir, entry->d_name);
		struct path_fact *fact;

		if (entry->d_name[0] == '.' || !is_dir(a, dir, entry->d_name, host->uid))
			continue;
		if (!is_git_dir(a, path, host->uid)) {
			find_modules(host, path, depth + 1);
			continue;
		}
		fact = arena_grow(a, &found->v, &found->len, sizeof(*fact));
		*fact = (struct path_fact){ .path = path,
					    .kind = PATH_DIR,
					    .target = work_tree(host, path) };
		find_modules(host, path_join(a, path, "modules"), depth + 1);
	}
}

/* Only what is an object directory of this user's repositories. */
static bool may_borrow(struct host *host, const char *objects)
{
	struct arena *a = &host->arena;

	return !strcmp(path_name(objects), "objects") &&
	       is_git_dir(a, path_parent(a, objects), host->uid);
}

/* Relative ones lead from another depth inside than outside: what has another name than git gives it could come to stand where
 * the system's programs are. */
static bool may_stand(const char *line, const char *target)
{
	return line[0] == '/' || !strcmp(path_name(target), "objects");
}

static void find_borrowed(struct host *host, const char *objects, const char *inside, int depth)
{
	struct path_facts *found = &host->project.borrowed;
	struct arena *a = &host->arena;
	_cleanup_free_ char *text = NULL;

	if (depth > 5 || os_read_file_at(AT_FDCWD, path_join(a, objects, "info/alternates"),
					 FILE_MAX, &text, NULL) < 0)
		return;
	for (char *line = text, *end; *line && found->len < BORROWED_MAX; line = end) {
		char *path, *target;
		struct path_fact *fact;

		end = strchrnul(line, '\n');
		if (*end)
			*end++ = '\0';
		path = *line && *line != '#' ? os_realpath(a, path_join(a, objects, line)) : NULL;
		target = path_join(a, inside, line);
		if (!path || !may_borrow(host, path) || !may_stand(line, target))
			continue;
		fact = arena_grow(a, &found->v, &found->len, sizeof(*fact));
		*fact = (struct path_fact){ .path = path, .kind = PATH_DIR, .target = target };
		find_borrowed(host, path, fact->target, depth + 1);
	}
}

/* The same each time; one around another is still before it. */
void modules_probe(struct host *host)
{
	struct project_facts *project = &host->project;
	struct arena *a = &host->arena;
	char *own, *common;

	if (project->git == GIT_NONE)
		return;
	project->lacks_git = !os_find_program(a, "git", getenv("PATH"), project->dir);
	own = project->git == GIT_PLAIN ? path_join(a, project->top, ".git") : project->gitdir;
	common = project->git == GIT_PLAIN ? own : project->commondir;
	find_modules(host, path_join(a, own, "modules"), 0);
	path_facts_sort(&project->modules);
	find_borrowed(host, path_join(a, common, "objects"), GIT_OBJECTS_INSIDE "/0/objects", 0);
	for (size_t i = 0; i < project->modules.len; i++)
		find_borrowed(host, path_join(a, project->modules.v[i].path, "objects"),
			      arena_printf(a, GIT_OBJECTS_INSIDE "/%zu/objects", i + 1), 0);
}
