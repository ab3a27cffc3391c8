/* SPDX-License-Identifier: MIT */
/*
 * The project directory and its git layout.
 *
 * What an attacker controls: everything in the project, so a '.git' file that says
 * 'gitdir: /home/you/.ssh'. It is believed only when that directory looks like a git directory of
 * this user's and names this very project: a linked worktree's 'gitdir' file, or 'core.worktree'
 * of a submodule or a separate git directory.
 */
#include "spec/project.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/str.h"
#include "os/fs.h"
#include "spec/gitconfig.h"

#define GIT_FILE_MAX 65536

static bool is_dir(const char *path, uid_t owner)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == owner;
}

static bool exists(struct arena *a, const char *dir, const char *name)
{
	struct stat st;

	return lstat(path_join(a, dir, name), &st) == 0;
}

/* The first line of a small file without its newline; NULL where there is none. */
static char *first_line(struct arena *a, const char *path)
{
	_cleanup_free_ char *text = NULL;

	if (os_read_file_at(AT_FDCWD, path, GIT_FILE_MAX, &text, NULL) < 0)
		return NULL;
	return arena_strndup(a, text, strcspn(text, "\n"));
}

static bool looks_like_repository(struct arena *a, const char *dir, uid_t owner)
{
	return is_dir(dir, owner) && exists(a, dir, "HEAD") &&
	       is_dir(path_join(a, dir, "objects"), owner) &&
	       is_dir(path_join(a, dir, "refs"), owner);
}

/* True when 'path', as written in gitdir's own files, means the project. */
static bool means(struct arena *a, const char *gitdir, const char *path, const char *project)
{
	char *real = path ? os_realpath(a, path_join(a, gitdir, path)) : NULL;

	return real && !strcmp(real, project);
}

static bool worktree_points_back(struct arena *a, const char *gitdir, const char *project)
{
	char *back = first_line(a, path_join(a, gitdir, "gitdir"));
	const char *slash = back ? strrchr(back, '/') : NULL;

	/* back is ".../project/.git" */
	return slash && !strcmp(slash, "/.git") &&
	       means(a, gitdir, arena_strndup(a, back, (size_t)(slash - back)), project);
}

static bool config_points_back(struct arena *a, const char *gitdir, const char *project)
{
	_cleanup_free_ char *text = NULL;
	char *worktree = NULL;

	if (os_read_file_at(AT_FDCWD, path_join(a, gitdir, "config"), GIT_FILE_MAX, &text, NULL) ==
	    0)
		worktree = gitconfig_get(a, text, "core", "worktree");
	return means(a, gitdir, worktree, project);
}

static void distrust(struct host *host, const char *why)
{
	host->project.git = GIT_NONE;
	host->project.note = arena_printf(
		&host->arena,
		"the project's .git file was not followed: %s; git will not work inside", why);
}

/* A git directory is mounted at a path of its own, writable: one that holds the project or lies in
 * it would be a second door, past what is read-only in the project. */
static bool overlap(const char *project, const char *gitdir, const char *commondir)
{
	return path_is_below(gitdir, project) || path_is_below(commondir, project) ||
	       path_is_below(project, commondir);
}

/* A '.git' that is a file: where it leads, if that place agrees. */
static void probe_gitfile(struct host *host, const char *dir)
{
	struct project_facts *project = &host->project;
	struct arena *a = &host->arena;
	char *line = first_line(a, path_join(a, dir, ".git"));
	char *common;

	if (!line || !str_starts(line, "gitdir: ")) {
		distrust(host, "it is not a link of git's");
		return;
	}
	project->git_relative = line[8] != '/';
	project->gitdir = os_realpath(a, path_join(a, dir, line + 8));
	if (!project->gitdir || !is_dir(project->gitdir, host->uid)) {
		distrust(host, "it leads nowhere, or to somebody else's directory");
		return;
	}
	common = first_line(a, path_join(a, project->gitdir, "commondir"));
	project->commondir = common ? os_realpath(a, path_join(a, project->gitdir, common))
				    : project->gitdir;
	if (project->commondir && overlap(dir, project->gitdir, project->commondir))
		distrust(host, "it leads back into the project, or to a repository around it");
	else if (!project->commondir || !looks_like_repository(a, project->commondir, host->uid))
		distrust(host, "it does not lead to a repository of yours");
	else if (common ? !worktree_points_back(a, project->gitdir, dir) ||
				  !path_is_below(project->gitdir, project->commondir)
			: !config_points_back(a, project->gitdir, dir))
		distrust(host,
			 "the repository it leads to does not know this directory (git config "
			 "core.worktree would say so)");
	else
		project->git = GIT_LINKED;
}

/* Sets project->git for a directory that holds a '.git'; false when it holds none. */
static bool probe_git(struct host *host, const char *dir)
{
	char *git = path_join(&host->arena, dir, ".git");
	struct stat st, head;

	if (lstat(git, &st) < 0)
		return false;
	/* An empty one is nothing to git, which goes on looking. */
	if (S_ISDIR(st.st_mode) && lstat(path_join(&host->arena, git, "HEAD"), &head) < 0 &&
	    errno == ENOENT)
		return false;
	if (S_ISDIR(st.st_mode))
		host->project.git = GIT_PLAIN;
	else if (S_ISREG(st.st_mode))
		probe_gitfile(host, dir);
	return true;
}

/* The repository around the project: the nearest directory above with a '.git', when it is the
 * user's own and not so broad that it would show the home directory. */
static void probe_repository(struct host *host)
{
	struct project_facts *project = &host->project;
	char *dir = project->dir;

	project->top = project->dir;
	if (probe_git(host, dir))
		return;
	while (strcmp(dir, "/")) {
		dir = path_parent(&host->arena, dir);
		if (host_holds_home(host, dir) || !is_dir(dir, host->uid))
			return;
		if (probe_git(host, dir)) {
			if (project->git != GIT_NONE)
				project->top = dir;
			return;
		}
	}
}

/* known: that directory has to agree, where '.git' is a file. */
static char *find_git_dir(struct arena *arena, const char *dir, const char *home, bool known)
{
	struct host host = { .uid = geteuid() };
	const struct project_facts *project = &host.project;
	char *ret = NULL;

	host.home = arena_strdup(&host.arena, home);
	host.project.dir = arena_strdup(&host.arena, dir);
	probe_repository(&host);
	if (project->git == GIT_LINKED || !known)
		ret = arena_strdup(arena, project->commondir);
	if (!ret && project->git == GIT_PLAIN && strcmp(project->top, dir) != 0)
		ret = path_join(arena, project->top, ".git");
	arena_release(&host.arena);
	return ret;
}

char *project_git_dir(struct arena *arena, const char *dir, const char *home)
{
	return find_git_dir(arena, dir, home, true);
}

char *project_obeyed_dir(struct arena *arena, const char *dir, const char *home)
{
	return find_git_dir(arena, dir, home, false);
}

/* NULL: above it somebody else decides, or nobody does. */
static char *dir_above(struct arena *arena, const char *dir)
{
	const char *home = getenv("HOME");
	char *above = path_parent(arena, dir);
	struct stat st;

	if (!strcmp(dir, "/") || (home && !strcmp(dir, home)) || stat(dir, &st) < 0)
		return NULL;
	return is_dir(above, st.st_uid) ? above : NULL;
}

char *project_config_dir(struct arena *arena, const char *dir)
{
	for (char *at = arena_strdup(arena, dir); at; at = dir_above(arena, at)) {
		if (exists(arena, at, "wrapix.json") || exists(arena, at, ".wrapix/profiles"))
			return at;
		if (exists(arena, at, ".git"))
			return NULL;
	}
	return NULL;
}

void project_dirs_around(struct arena *arena, const char *dir, const char *config_dir,
			 struct strv *ret)
{
	for (char *at = config_dir ? dir_above(arena, config_dir) : arena_strdup(arena, dir); at;
	     at = dir_above(arena, at))
		if (exists(arena, at, "wrapix.json"))
			strv_add(arena, ret, at);
}

void project_probe_git(struct host *host)
{
	probe_repository(host);
	modules_probe(host);
}

int project_probe(const struct spec *spec, struct host *host, struct err *err)
{
	struct project_facts *project = &host->project;
	struct arena *a = &host->arena;
	struct stat st;

	project->dir = os_realpath(a, spec->dir);
	if (!project->dir) {
		if (!strcmp(spec->dir, ".") && !os_here(a, err))
			return -err->code;
		err_errno(err, errno, "opening the project '%s'", spec->dir);
		if (spec->cmd || strchr(spec->dir, '/'))
			return -err->code;
		err->exit = EXIT_USAGE;
		return err_hint(err, "a command stands behind '--': wrapix run -- %s", spec->dir);
	}
	if (stat(project->dir, &st) < 0)
		return err_errno(err, errno, "opening the project '%s'", project->dir);
	if (!S_ISDIR(st.st_mode))
		return err_errno(err, ENOTDIR, "opening the project '%s'", project->dir);
	if (access(project->dir, R_OK | X_OK) < 0) {
		err_errno(err, errno, "opening the project '%s'", project->dir);
		if (st.st_uid == geteuid())
			return err_hint(err, "it is yours, but its mode keeps you out: chmod u+rx");
		return err_hint(err, "it belongs to uid %u; run wrapix as its owner", st.st_uid);
	}
	project->owner = st.st_uid;
	probe_repository(host);
	modules_probe(host);
	project->has_config = exists(a, project->dir, "wrapix.json");
	project->has_wrapix_dir = is_dir(path_join(a, project->dir, ".wrapix"), st.st_uid);
	return 0;
}

void git_identity_probe(struct host *host)
{
	struct arena *a = &host->arena;
	/* The later file wins, as it does for git. */
	const char *const files[] = {
		path_join(a, host->config_home, "git/config"),
		path_join(a, host->home, ".gitconfig"),
	};

	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		_cleanup_free_ char *text = NULL;
		char *name, *email;

		if (os_read_file_at(AT_FDCWD, files[i], GIT_FILE_MAX * 16, &text, NULL) < 0)
			continue;
		name = gitconfig_get(a, text, "user", "name");
		email = gitconfig_get(a, text, "user", "email");
		host->git_name = name ? name : host->git_name;
		host->git_email = email ? email : host->git_email;
	}
}
