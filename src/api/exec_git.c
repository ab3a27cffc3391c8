/* SPDX-License-Identifier: MIT */
/*
 * The git directories of a command: each repository has a private one for all commands (git/lasting.h), which
 * stands in the host's place. The broker makes every change in it, by the same rules as elsewhere. That of
 * the working directory's repository is mounted with the rest, those of others when the command comes to
 * them (guard/broker_repository.c).
 *
 * Not for a repository in which the settings say more than the default does about single files: what
 * they allow or deny is then done to these files, and judged by content (guard/broker_git.c). exec_repo.c says which
 * can have one.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "api/exec_priv.h"
#include "api/repository.h"
#include "base/path.h"
#include "git/lasting.h"
#include "guard/broker.h"
#include "os/fs.h"
#include "os/proc.h"
#include "session/denial.h"
#include "spec/project.h"

enum {
	FDS_EACH = 8,   /* that a repository takes of ours */
	FDS_KEPT = 384, /* for all that is not git */
};

/* ------------------------------------------------------------------ one of them */

static void add_dir(struct exec *x, struct exec_repo *repo, const char *path,
		    const struct git_store *store)
{
	struct arena *a = &x->arena;
	struct broker_gitdir *dir = arena_grow(a, (void *)&repo->dirs, &repo->n_dirs, sizeof(*dir));

	*dir = (struct broker_gitdir){ .path = arena_strdup(a, path) };
	if (!store)
		return;
	dir->private = store->private;
	dir->objects = path_join(a, store->common, "objects");
	dir->lfs = path_join(a, store->common, "lfs/objects");
	if (access(dir->lfs, F_OK) < 0)
		dir->lfs = NULL;
}

/* Of work trees that the command may not write nothing is changed. */
static void close_trees(struct exec *x, struct exec_repo *repo, const struct git_about *about)
{
	if (git_is_linked(about->real, about->common))
		return;
	for (size_t i = 0; i < about->n_trees; i++)
		if (!about->trees[i].whole || about->trees[i].closed)
			add_dir(x, repo,
				arena_printf(&x->arena, "%s/worktrees/%s", about->common,
					     about->trees[i].id),
				NULL);
	repo->dirs[0].fixed = about->closed;
}

/* In place of the host's, which are called so, with the host's objects to read. */
static void add_dirs(struct exec *x, struct exec_repo *repo, const struct git_about *about)
{
	const struct git_store *store = &repo->store;

	/* Of a linked work tree's repository nothing else is changed. */
	if (git_is_linked(store->real, store->common))
		add_dir(x, repo, store->common, NULL);
	add_dir(x, repo, store->real, store);
	for (size_t i = 0; i < store->n_parts; i++)
		if (!store->parts[i].tree)
			add_dir(x, repo, store->parts[i].real, &store->parts[i]);
	close_trees(x, repo, about);
}

static void close_repo(struct exec_repo *repo)
{
	git_close(&repo->store);
	close_ptr(&repo->host);
	repo->on = false;
}

static struct git_about describe(struct exec *x, const struct project_facts *project)
{
	struct arena *a = &x->arena;
	bool plain = project->git == GIT_PLAIN;
	char *real = plain ? path_join(a, project->top, ".git") : project->gitdir;
	struct strv *borrowed = arena_alloc(a, sizeof(*borrowed));

	*borrowed = (struct strv){ 0 };
	/* What it borrows of is the repository's own word, and a command may have written that. */
	for (size_t i = 0; i < project->borrowed.len; i++)
		if (file_rules_read(&x->exec_spec.files, project->borrowed.v[i].path).allowed)
			strv_add(a, borrowed, project->borrowed.v[i].path);
	return (struct git_about){
		.state_home = x->host.state_home,
		.project = project->top,
		.top = project->top,
		.real = real,
		.common = plain ? real : project->commondir,
		.program = repository_program(a, x->host.project.top),
		.borrowed = borrowed,
		.hooks = exec_git_hooks(x, plain ? real : project->commondir),
		.lasting = true,
	};
}

static void take_trees(struct exec *x, struct git_about *about)
{
	struct git_tree *trees = NULL;

	if (!git_is_linked(about->real, about->common))
		git_list_trees(&x->arena, about->common, &trees, &about->n_trees);
	known(trees || !about->n_trees);
	for (size_t i = 0; i < about->n_trees; i++)
		trees[i].closed = !exec_git_writes_tree(x, &trees[i]);
	about->closed = !git_is_linked(about->real, about->common) &&
			!exec_git_writes_own(x, about->common);
	about->trees = trees;
}

static const char full[] = "a command came to too many";

/* The host's own is read, and not written; why: NULL where it was told before. */
static void seal(struct exec *x, struct exec_repo *repo, const struct git_about *about,
		 const char *why)
{
	close_repo(repo);
	repo->sealed = arena_printf(&x->arena, DENIAL_SEALED "%s", why ? why : full);
	add_dir(x, repo, about->common, NULL);
	if (!path_is_below(about->real, about->common))
		add_dir(x, repo, about->real, NULL);
	if (why)
		exec_say(x, x->hooks.on_warning,
			 arena_printf(
				 &x->arena,
				 "the repository '%s' is read-only: its private git directory '%s' "
				 "cannot be used: %s",
				 about->top, about->id, why));
}

static bool is_full(const struct exec *x)
{
	return x->git.n_repos * FDS_EACH + FDS_KEPT > os_raise_descriptors();
}

/* A command that fills the disk, say, gets no repository to judge by content instead of a private one. */
static bool may_be_brought_about(int code)
{
	static const int codes[] = { EAGAIN, EBUSY,  EDQUOT, EIO,   EMFILE, EMLINK,   ENFILE,
				     ENOMEM, ENOSPC, ENXIO,  EPIPE, ESTALE, ETIMEDOUT };

	for (size_t i = 0; i < ARRAY_LEN(codes); i++)
		if (codes[i] == code)
			return true;
	return false;
}

/* Where there is none it is judged by content, and has no directories. */
static void begin(struct exec *x, struct exec_repo *repo, const struct project_facts *project,
		  bool late)
{
	struct git_about about = describe(x, project);
	char id[GIT_LASTING_ID];
	const char *why = exec_git_obstacle(x, &about);
	struct err err;

	if (!why) {
		git_lasting_id(about.real, id);
		about.id = id;
		if (late && is_full(x)) {
			seal(x, repo, &about, x->git.full ? NULL : full);
			x->git.full = true;
			return;
		}
		repository_take_modules(project, &x->arena, &about);
		take_trees(x, &about);
		repo->on = git_lasting_begin(&repo->store, &about, &err) == 0;
		if (repo->on) {
			repo->host = open(about.real,
					  O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			add_dirs(x, repo, &about);
			return;
		}
		why = arena_strdup(&x->arena, err.msg);
		if (git_lasting_exists(&about) || may_be_brought_about(err.code)) {
			seal(x, repo, &about, why);
			return;
		}
	}
	exec_say(x, x->hooks.on_debug,
		 arena_printf(&x->arena, "git's files in '%s' are judged by content: %s", about.top,
			      why));
}

static struct exec_repo *add_repo(struct exec *x, const char *place)
{
	struct exec_repo *repo = arena_alloc(&x->arena, sizeof(*repo));

	*repo = (struct exec_repo){ .place = arena_strdup(&x->arena, place),
				    .store = GIT_STORE_NONE,
				    .host = -1,
				    .watch = GIT_WATCH_NONE };
	*(struct exec_repo **)arena_grow(&x->arena, (void *)&x->git.repos, &x->git.n_repos,
					 sizeof(repo)) = repo;
	return repo;
}

/* ------------------------------------------------------------------ before the command */

static void add_bind(struct exec *x, const char *dest, const char *src, unsigned flags)
{
	plan_add(&x->plan, OP_BIND, arena_strdup(&x->plan.arena, dest),
		 arena_strdup(&x->plan.arena, src), OPF_RO | OPF_DIR | flags);
}

static void mount_at_start(struct exec *x, const struct exec_repo *repo)
{
	struct arena *a = &x->arena;

	for (size_t i = 0; i < repo->n_dirs; i++) {
		const struct broker_gitdir *dir = &repo->dirs[i];
		struct engine_private *private = arena_grow(a, (void *)&x->git.private,
							    &x->git.n_private, sizeof(*private));
		int fd = dir->private
				 ? open(dir->private, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
				 : -1;

		*private = (struct engine_private){ dir->path, fd, dir->fixed };
		if (fd < 0)
			continue; /* closed */
		add_bind(x, dir->path, dir->private, 0);
		add_bind(x, path_join(a, dir->path, GIT_HOST "/objects"), dir->objects, OPF_PLAIN);
		if (dir->lfs)
			add_bind(x, path_join(a, dir->path, GIT_HOST "/lfs/objects"), dir->lfs,
				 OPF_PLAIN);
	}
}

static void probe(struct host *host, const char *dir, const char *gitdir)
{
	struct project_facts *project = &host->project;
	struct arena *a = &host->arena;

	if (!dir && !strcmp(path_name(gitdir), ".git"))
		dir = path_parent(a, gitdir);
	if (dir) {
		project->dir = arena_strdup(a, dir);
		project_probe_git(host);
		return;
	}
	/* A bare one, or one whose files are elsewhere. */
	project->dir = project->top = arena_strdup(a, gitdir);
	project->gitdir = project->commondir = project->dir;
	project->git = GIT_LINKED;
	modules_probe(host);
}

void exec_git_begin(struct exec *x)
{
	const struct project_facts *project = &x->host.project;
	struct host whole = { .uid = geteuid() };
	struct exec_repo *repo;

	if (project->git == GIT_NONE)
		return;
	if (exec_git_is_shared(x, project)) {
		probe(&whole, NULL, project->commondir);
		project = &whole.project;
	}
	repo = add_repo(x, project->top);
	begin(x, repo, project, false);
	mount_at_start(x, repo);
	arena_release(&whole.arena);
}

/* ------------------------------------------------------------------ while it runs, and after */

static struct exec_repo *find_repo(struct exec *x, const char *place)
{
	for (size_t i = 0; i < x->git.n_repos; i++)
		if (!strcmp(x->git.repos[i]->place, place))
			return x->git.repos[i];
	return NULL;
}

/* A command may move what it may write. */
static void follow(struct exec *x, struct exec_repo *repo)
{
	struct git_about about = { 0 };
	char path[PATH_MAX];
	struct err ignored;

	if (!repo->on || repo->host < 0 || !git_lasting_is_moved(&repo->store) ||
	    os_fd_name(repo->host, path) <= 0 || git_lasting_move(&repo->store, path, &ignored) < 0)
		return;
	repo->moved = true;
	repo->place = arena_strdup(&x->arena, repo->store.top);
	repo->dirs = NULL;
	repo->n_dirs = 0;
	about.real = about.common = repo->store.real;
	about.closed = repo->store.closed;
	add_dirs(x, repo, &about);
}

/* A clone of one that lies in another may borrow from that. */
static void lend_each_other(struct exec *x, struct exec_repo *repo)
{
	for (size_t i = 0; i < x->git.n_repos; i++) {
		struct exec_repo *other = x->git.repos[i];

		if (other == repo || !other->on)
			continue;
		git_lend(&repo->store, path_join(&x->arena, other->store.common, "objects"));
		git_lend(&other->store, path_join(&x->arena, repo->store.common, "objects"));
	}
}

static struct exec_repo *come_to(struct exec *x, const char *dir, const char *gitdir, bool made)
{
	struct host host = { .uid = geteuid() };
	struct exec_repo *repo;

	host.home = arena_strdup(&host.arena, x->host.home);
	probe(&host, dir, gitdir);
	if (exec_git_is_shared(x, &host.project))
		probe(&host, NULL, arena_strdup(&host.arena, host.project.commondir));
	repo = host.project.git == GIT_NONE ? NULL : find_repo(x, host.project.top);
	if (host.project.git != GIT_NONE && !repo) {
		repo = add_repo(x, host.project.top);
		begin(x, repo, &host.project, true);
		if (made && repo->on)
			git_lasting_take_objects(&repo->store);
		if (repo->on)
			lend_each_other(x, repo);
	}
	arena_release(&host.arena);
	return repo;
}

size_t exec_git_come(void *ctx, const char *dir, const char *gitdir, bool made,
		     const struct broker_gitdir **ret)
{
	struct exec *x = ctx;
	struct exec_repo *repo;

	for (size_t i = 0; !gitdir && i < x->git.n_repos; i++)
		follow(x, x->git.repos[i]);
	*ret = NULL;
	if (!gitdir)
		return 0;
	repo = find_repo(x, dir ? dir : gitdir);
	if (!repo)
		repo = come_to(x, dir, gitdir, made);
	*ret = repo ? repo->dirs : NULL;
	return repo ? repo->n_dirs : 0;
}

const char *exec_git_sealed(const struct exec *x, const char *path)
{
	for (size_t i = 0; i < x->git.n_repos; i++) {
		const struct exec_repo *repo = x->git.repos[i];

		for (size_t k = 0; repo->sealed && k < repo->n_dirs; k++)
			if (path_is_below(path, repo->dirs[k].path))
				return repo->sealed;
	}
	return NULL;
}

/* Of one repository, without beginning anything; NULL: it may be written, or the path is not in its git directory. */
static const char *waits(struct exec *x, const struct project_facts *project, const char *path)
{
	struct git_about about = { 0 };
	char id[GIT_LASTING_ID];
	struct err err;

	if (project->git == GIT_NONE)
		return NULL;
	about = describe(x, project);
	if ((!path_is_below(path, about.common) && !path_is_below(path, about.real)) ||
	    exec_git_obstacle(x, &about))
		return NULL;
	git_lasting_id(about.real, id);
	about.id = id;
	repository_take_modules(project, &x->arena, &about);
	return git_lasting_waits(&about, &err)
		       ? arena_printf(&x->arena, DENIAL_SEALED "%s", err.msg)
		       : NULL;
}

/* Where the first ".git" of a path begins, with its '/'; NULL. */
static const char *find_dot_git(const char *path)
{
	for (const char *p = path; (p = strstr(p, "/.git")) != NULL; p++)
		if (p > path && (!p[5] || p[5] == '/'))
			return p;
	return NULL;
}

const char *exec_git_waits(struct exec *x, const char *path)
{
	struct host host = { .uid = geteuid() }, whole = { .uid = geteuid() };
	const char *end = find_dot_git(path), *why;

	/* That of the working directory, as a command begins with it; else the one that the name leads to. */
	if (x->host.project.git != GIT_NONE && exec_git_is_shared(x, &x->host.project)) {
		probe(&whole, NULL, x->host.project.commondir);
		why = waits(x, &whole.project, path);
	} else {
		why = waits(x, &x->host.project, path);
	}
	if (!why && end) {
		host.home = arena_strdup(&host.arena, x->host.home);
		probe(&host, arena_strndup(&host.arena, path, (size_t)(end - path)), NULL);
		why = waits(x, &host.project, path);
	}
	arena_release(&whole.arena);
	arena_release(&host.arena);
	return why;
}

static bool has_dir(const struct exec_repo *repo, const char *path)
{
	for (size_t i = 0; i < repo->n_dirs; i++)
		if (!strcmp(repo->dirs[i].path, path))
			return true;
	return false;
}

void exec_git_change(void *ctx, const char *path)
{
	struct exec *x = ctx;
	struct err ignored;

	for (size_t i = 0; i < x->git.n_repos; i++) {
		struct exec_repo *repo = x->git.repos[i];

		if (!repo->on || repo->changed || !has_dir(repo, path))
			continue;
		repo->changed = true;
		git_lasting_change(&repo->store);
		if (x->loop) /* what fails there is published at the end */
			git_watch_start(&repo->watch, x->loop, &repo->store, exec_on_note, x,
					&ignored);
	}
}

void exec_git_unwatch(struct exec *x)
{
	for (size_t i = 0; i < x->git.n_repos; i++)
		git_watch_stop(&x->git.repos[i]->watch);
}

static void end(struct exec *x, struct exec_repo *repo, struct strv *says)
{
	struct git_report report = { 0 };
	struct err err;

	follow(x, repo);
	if (repo->changed && git_lasting_end(&repo->store, &report, &err) < 0)
		strv_addf(&x->arena, says,
			  "what the command did in git could not be taken over: %s; it is kept, "
			  "and the next command tries again",
			  err.msg);
	else
		repository_tell(&repo->store, &report, x->host.project.dir, &x->arena, says);
	git_report_release(&report);
	if (repo->moved)
		git_lasting_settle(&repo->store);
	close_repo(repo);
}

void exec_git_end(struct exec *x)
{
	struct strv says = { 0 };

	for (size_t i = 0; i < x->git.n_repos; i++)
		if (x->git.repos[i]->on)
			end(x, x->git.repos[i], &says);
	for (size_t i = 0; i < says.len; i++)
		exec_say(x, x->hooks.on_warning, says.v[i]);
	for (size_t i = 0; i < x->git.n_private; i++)
		close_ptr(&x->git.private[i].fd);
	x->git = (struct exec_git){ 0 };
}
