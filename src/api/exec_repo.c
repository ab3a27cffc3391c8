/* SPDX-License-Identifier: MIT */
/*
 * Whether a repository that a command works in can have a private git directory (git/lasting.h), and which: that of one
 * work tree, or that of the repository with all of its work trees.
 *
 * The first is for a linked work tree that the command may write alone: nothing else of the repository is changed then,
 * not even in private. Where it may write others, or the repository's own, it may go from one to the other, and what it
 * commits here it merges there; so all of them are one. Of those that it may not write nothing is changed there, either.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "api/exec_priv.h"
#include "base/path.h"
#include "base/str.h"
#include "git/git.h"
#include "os/dir.h"
#include "os/fs.h"
#include "os/linux/landlock.h"

/* The settings leave git's own names as they are. */
static bool settings_fit(const struct srt_config *config)
{
	for (size_t i = 0; i < config->protect_remove.len; i++)
		if (!strcmp(config->protect_remove.v[i], ".git") ||
		    str_starts(config->protect_remove.v[i], ".git/"))
			return false;
	return !config->allow_git_config;
}

static bool may_write(struct exec *x, const char *dir, const char *name)
{
	return file_rules_write(&x->exec_spec.files, path_join(&x->arena, dir, name)).allowed;
}

/* 'hooks' that is a link is protected by its path as well. */
static bool is_default(const struct file_rule *rule)
{
	return rule->kind == FILE_DENY_WRITE && rule->key && !strcmp(rule->key, "protect") &&
	       rule->text && !strcmp(rule->text, ".git/hooks");
}

/* No rule is about something in the directory, and all of it is a command's to change. */
static bool rules_fit(struct exec *x, const char *dir, const char *common)
{
	static const char *const names[] = { "HEAD", "index", "refs/heads/main", "objects/00/0" };
	const struct file_rules *files = &x->exec_spec.files;

	for (size_t i = 0; i < files->n; i++) {
		const struct file_rule *rule = &files->rules[i];

		if (rule->path && rule->kind != FILE_ALLOW_WRITE &&
		    path_is_below(rule->path, common) && !rule->glob && !is_default(rule))
			return false;
	}
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!may_write(x, dir, names[i]) ||
		    !file_rules_read(files, path_join(&x->arena, dir, names[i])).allowed)
			return false;
	return true;
}

static bool is_own(const char *dir)
{
	struct stat st;

	return lstat(dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

/* Git would write through these, and we would show what they lead to. */
static bool has_links(const char *dir)
{
	static const char *const names[] = {
		"HEAD",
		"objects",
		"objects/info",
		"objects/pack",
		"refs",
		"refs/heads",
		"logs",
		"logs/HEAD",
		"logs/refs",
		"logs/refs/heads",
		"logs/refs/stash",
		"lfs",
		"lfs/objects",
	};
	_cleanup_close_ int fd = open(dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (fstatat(fd, names[i], &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
			return true;
	return fd < 0;
}

const char *exec_git_obstacle(struct exec *x, const struct git_about *about)
{
	if (x->plan.engine != ENGINE_NATIVE || x->request.asks || x->host.inside)
		return "the sandbox around has one";
	if (x->exec_spec.files.disabled)
		return "no rules";
	if (!about->program)
		return "there is no git on this machine";
	if (!landlock_handles_files(x->host.landlock_abi))
		return "Landlock is missing";
	if (!is_own(about->real))
		return "it is not the user's own";
	if (has_links(about->real) || has_links(about->common))
		return "there are links in it";
	if (!settings_fit(&x->config) || !rules_fit(x, about->real, about->common))
		return "the settings have rules for it";
	return NULL;
}

/* A name that is no link leads there: nothing else is opened than what the rules were asked about. */
const char *exec_git_hooks(struct exec *x, const char *common)
{
	const struct file_rules *files = &x->exec_spec.files;
	char *path = path_join(&x->arena, common, "hooks"), *real;
	bool readable = true;
	struct dirent *entry;
	struct stat st;
	_cleanup_dir_ DIR *list = NULL;

	if (lstat(path, &st) < 0 || !S_ISLNK(st.st_mode))
		return NULL;
	real = os_realpath(&x->arena, path);
	list = real && file_rules_read(files, real).allowed ? opendir(real) : NULL;
	/* Also where it stands: ".." is one of the names. */
	while (list && readable && (entry = readdir(list)) != NULL)
		readable =
			file_rules_read(files, path_join(&x->arena, real, entry->d_name)).allowed;
	return list && readable ? real : NULL;
}

/* ------------------------------------------------------------------ work trees */

/* The repository's own, where its git directory is called as usual. */
static char *own_top(struct exec *x, const char *common)
{
	return !strcmp(path_name(common), ".git") ? path_parent(&x->arena, common) : NULL;
}

/* The one that the command starts in is its own also where it starts below the top, and may write only there. */
static bool writes_files(struct exec *x, const char *top)
{
	const struct project_facts *here = &x->host.project;

	return may_write(x, top, "file") || (here->git != GIT_NONE && !strcmp(here->top, top));
}

bool exec_git_writes_tree(struct exec *x, const struct git_tree *tree)
{
	return writes_files(x, tree->top);
}

bool exec_git_writes_own(struct exec *x, const char *common)
{
	char *top = own_top(x, common);

	return !top || writes_files(x, top) || path_is_below(x->host.project.dir, common);
}

bool exec_git_is_shared(struct exec *x, const struct project_facts *project)
{
	struct git_tree *trees = NULL;
	bool whole = true, others;
	char *top;
	size_t n = 0;

	if (project->git != GIT_LINKED || !strcmp(project->gitdir, project->commondir))
		return false;
	top = own_top(x, project->commondir);
	others = top && may_write(x, top, "file");
	git_list_trees(&x->arena, project->commondir, &trees, &n);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(trees[i].top, project->top))
			whole = trees[i].whole;
		else
			others |= exec_git_writes_tree(x, &trees[i]);
	return others && whole;
}
