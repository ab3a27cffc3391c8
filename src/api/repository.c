/* SPDX-License-Identifier: MIT */
/* The private git directory of a run. */
#include "api/repository.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "api/gated.h"
#include "api/protection.h"
#include "base/path.h"
#include "base/str.h"
#include "git/lasting.h"
#include "os/proc.h"
#include "session/record.h"
#include "spec/gitnamed.h"

char *repository_program(struct arena *arena, const char *project)
{
	return os_find_program(arena, "git", getenv("PATH"), project);
}

/* Where a repository is, for somebody in a directory; "" for the one of that. */
static const char *place_of(struct arena *arena, const char *top, const char *dir)
{
	const char *tree = strcmp(path_name(top), ".git") != 0 ? top : path_parent(arena, top);
	const char *below = path_below(tree, dir);

	if (path_is_below(dir, tree))
		return "";
	return below ? below : tree;
}

void repository_take_modules(const struct project_facts *project, struct arena *arena,
			     struct git_about *about)
{
	char *modules = path_join(arena, about->real, "modules");
	struct plan_module *list = NULL;

	for (size_t i = 0; i < project->modules.len; i++) {
		struct plan_module *module = arena_grow(arena, (void *)&list, &about->n_modules,
							sizeof(*module));

		module->gitdir = project->modules.v[i].path;
		module->name = arena_strdup(arena, path_below(module->gitdir, modules));
		module->where = project->modules.v[i].target;
	}
	about->modules = list;
}

enum { TOLD_MAX = 10 };

static void tell(const char *what, const struct git_held *held, const char *below,
		 struct arena *arena, struct strv *ret_says)
{
	_cleanup_str_ struct str name = { 0 }, where = { 0 };
	const char *place = *held->where ? held->where : below;

	strv_addf(arena, ret_says, "%s: %s%s%s %s: %s", what,
		  *place ? str_quote(&where, place) : "", *place ? ": " : "", held->kind,
		  str_quote(&name, held->name), held->why);
}

void repository_tell(const struct git_store *store, const struct git_report *report,
		     const char *dir, struct arena *arena, struct strv *ret_says)
{
	const char *below = place_of(arena, store->top, dir);

	for (size_t i = 0; i < MIN(report->n_kept, TOLD_MAX); i++)
		tell("taken over in git", &report->kept[i], below, arena, ret_says);
	if (report->n_kept)
		strv_addf(arena, ret_says, "'wrapix git drop %s'%s removes what is kept so%s",
			  store->id, *below ? " there" : "",
			  report->n_held ? ", and forgets what is held" : "");
	for (size_t i = 0; i < MIN(report->n_held, TOLD_MAX); i++)
		tell("held back in git", &report->held[i], below, arena, ret_says);
	if (report->n_held)
		strv_addf(arena, ret_says,
			  "'wrapix git held %s --show' shows what was not taken over, 'wrapix git "
			  "accept' and 'wrapix git drop' decide",
			  store->id);
}

/* Of a copy-on-write session: it is kept with it, and what it committed stands beside. */
static void rest(struct git_store *store, const struct git_report *report, struct arena *arena,
		 struct strv *ret_says)
{
	struct err ignored;

	if (report->published)
		strv_addf(arena, ret_says,
			  "what it committed is in refs/wrapix/%s/heads: 'git log --all' shows it, "
			  "'git merge wrapix/%s/heads/BRANCH' takes it over",
			  store->id, store->id);
	if (report->n_stashed)
		strv_addf(arena, ret_says,
			  "what it stashed, which may be files of yours, is in "
			  "refs/wrapix/%s/stash: 'git stash apply %s' takes %s over",
			  store->id, report->stashed, report->n_stashed == 1 ? "it" : "the latest");
	git_disarm(store);
	git_set_done(store, &ignored); /* else it is published once more, which changes nothing */
}

static void settle(struct git_store *store, const struct git_report *report, struct arena *arena,
		   struct strv *ret_says)
{
	struct err ignored;

	repository_tell(store, report, store->project, arena, ret_says);
	if (!report->n_held) {
		git_remove(store, &ignored); /* else the next time */
		return;
	}
	git_disarm(store);
	git_set_done(store, &ignored); /* else it is published once more, which changes nothing */
}

void repository_finish(struct git_store *store, struct arena *arena, struct strv *ret_says)
{
	struct git_report report = { 0 };
	struct err err;

	if (git_publish(store, true, &report, &err) < 0) {
		strv_addf(
			arena, ret_says,
			"what the session did in git could not be taken over: %s; it is kept, and "
			"the next 'wrapix run' or 'wrapix git status' here tries again; 'wrapix "
			"git drop %s' forgets it",
			err.msg, store->id);
	} else if (store->view) {
		rest(store, &report, arena, ret_says);
	} else {
		settle(store, &report, arena, ret_says);
	}
	git_report_release(&report);
}

/* Publishes what runs that were killed left of this project, each with a line of what is held. */
static void repository_repair(const char *state_home, const char *project, struct arena *arena,
			      struct strv *ret_says)
{
	struct git_info *list = NULL;
	char *program = repository_program(arena, project);
	struct err err;
	size_t n = 0;

	if (!program || git_list(arena, state_home, project, false, &list, &n, &err) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		_cleanup_git_ struct git_store store = GIT_STORE_NONE;

		if (list[i].running || (list[i].done && !list[i].stale && !list[i].locked) ||
		    git_open(&store, state_home, list[i].id, program, &err) < 0 ||
		    git_lock(&store, &err) < 0)
			continue;
		if (list[i].locked && list[i].done && git_unlock(&store, &err) < 0)
			strv_add(arena, ret_says, err.msg);
		if (list[i].done) {
			if (list[i].stale) /* its session was removed */
				git_remove(&store, &err);
			continue;
		}
		strv_addf(arena, ret_says,
			  "the session %s was broken off: its git is taken over now", list[i].id);
		git_lasting_mend(&store);
		repository_finish(&store, arena, ret_says);
	}
}

void repository_repair_here(const char *state_home, const char *here, struct arena *arena,
			    struct strv *ret_says)
{
	struct git_info *list = NULL;
	struct strv seen = { 0 };
	struct err ignored;
	size_t n = 0;

	gated_repair(state_home, here, arena, ret_says);
	if (git_list(arena, state_home, here, true, &list, &n, &ignored) < 0)
		return;
	for (size_t i = 0; i < n; i++)
		if (!list[i].running && (!list[i].done || list[i].stale || list[i].locked) &&
		    !strv_has(&seen, list[i].project)) {
			strv_add(arena, &seen, list[i].project);
			repository_repair(state_home, list[i].project, arena, ret_says);
		}
}

/* One that goes on has its git directory already, unless it began without. */
static int resume(struct git_store *store, const struct git_about *about, struct err *err)
{
	int r = git_open(store, about->state_home, about->id, about->program, err);

	if (r < 0)
		return git_prepare(store, about, err);
	for (size_t i = 0; i < MAX(store->n_parts, about->n_modules); i++)
		if (i >= store->n_parts || i >= about->n_modules ||
		    strcmp(store->parts[i].name, about->modules[i].name) != 0) {
			git_close(store);
			return err_set(err, ESTALE,
				       "the session '%s' knows other submodules than are there",
				       about->id);
		}
	r = git_lock(store, err);
	return r < 0 ? r : git_resume(store, err);
}

/* A session whose commits are in a directory of its own would not find them. */
static int refuse_other(const struct host *host, const char *id, struct err *err)
{
	_cleanup_git_ struct git_store store = GIT_STORE_NONE;
	struct err ignored;

	if (git_open(&store, host->state_home, id, NULL, &ignored) < 0)
		return 0;
	err_usage(err, "the session '%s' has a git directory of its own", id);
	return err_hint(err, "go on with it with --git private");
}

void repository_choose(struct spec *spec, const struct host *host)
{
	_cleanup_git_ struct git_store store = GIT_STORE_NONE;
	struct err ignored;

	if (!spec->resume || spec->git != GIT_MODE_UNSET)
		return;
	spec->git = git_open(&store, host->state_home, spec->resume, NULL, &ignored) < 0
			    ? GIT_MODE_DIRECT
			    : GIT_MODE_PRIVATE;
}

int repository_forget(const char *state_home, const char *id, const char *project, struct err *err)
{
	_cleanup_git_ struct git_store store = GIT_STORE_NONE;
	struct arena arena = { 0 };
	struct err ignored;
	int r = git_open(&store, state_home, id, repository_program(&arena, project), &ignored);

	arena_release(&arena);
	if (r < 0) /* it has none */
		return 0;
	r = git_lock(&store, err);
	if (r < 0)
		return r;
	return store.program ? git_forget(&store, err) : git_remove(&store, err);
}

/* The project itself is what git takes for a repository. */
static bool is_bare(const char *project)
{
	_cleanup_close_ int dir = record_open_dir(AT_FDCWD, project);

	return dir >= 0 && git_is_repository(dir);
}

int repository_begin(struct repository *repository, const struct plan *plan,
		     const struct host *host, const char *id, struct arena *arena,
		     struct strv *ret_says, struct err *err)
{
	const struct git_about about = {
		.state_home = host->state_home,
		.id = id,
		.project = plan->project,
		.top = host->project.top,
		.real = plan->git_real,
		.common = plan->git_common,
		.modules = plan->git_modules,
		.n_modules = plan->n_git_modules,
		.borrowed = &plan->git_borrowed,
		.program = plan->git_real ? repository_program(arena, plan->project) : NULL,
		.view = plan->cow_base ? path_join(arena, plan->cow_base, id) : NULL,
	};
	int r;

	*repository = (struct repository)REPOSITORY_NONE;
	if (plan->project)
		repository_repair(host->state_home, plan->project, arena, ret_says);
	if (!plan->git_real && (plan->gate || plan->cow_base) && is_bare(plan->project))
		strv_add(arena, ret_says,
			 "this is a bare repository: inside it can be read; to work in it make a "
			 "work tree ('git worktree add ../work') and go there");
	if (!plan->git_real)
		return plan->resume ? refuse_other(host, id, err) : 0;
	if (!about.program) {
		err_set(err, ENOENT, "--git private needs git on this machine");
		return err_hint(err, "install it, or use --git direct");
	}
	r = plan->resume ? resume(&repository->store, &about, err)
			 : git_prepare(&repository->store, &about, err);
	repository->on = r == 0;
	repository->about = about;
	if (r < 0 && !err->hint[0])
		return err_hint(err, "mend the repository, or use --git direct, and the host's git "
				     "obeys what the sandbox writes");
	return r;
}

void repository_started(struct repository *repository, pid_t init)
{
	if (repository->on)
		record_note_init(repository->store.dir, init);
}

void repository_watch(struct repository *repository, struct loop *loop,
		      void (*on_failure)(void *ctx, const char *text), void *ctx)
{
	struct err err;

	if (!repository->on)
		return;
	if (!loop)
		git_watch_stop(&repository->watch);
	else if (git_watch_start(&repository->watch, loop, &repository->store, on_failure, ctx,
				 &err) < 0)
		on_failure(ctx, err.msg); /* it is published at the end, then */
}

void repository_end(struct repository *repository, struct arena *arena, struct strv *ret_says)
{
	if (!repository->on)
		return;
	git_watch_stop(&repository->watch);
	repository_finish(&repository->store, arena, ret_says);
	git_close(&repository->store);
	git_ready_make(&repository->about);
	repository->on = false;
}

/* Said of one path. The user's own word counts more; and what is only told of is not told less of than before. */
static void protect_named(struct spec *spec, const struct gitnamed *named)
{
	struct err ignored;

	if (named->level > PROTECT_REPORT ||
	    protection_of(&spec->protect, named->path).level <= PROTECT_ALLOW)
		(void)spec_protect_path(spec, named->path, protect_level_name(named->level),
					LAYER_BUILTIN, &ignored);
}

void repository_protect(struct spec *spec, const struct host *host)
{
	struct gitnamed_list named;

	gitnamed_find(&spec->arena, host, &named);
	for (int told = 0; told <= 1; told++)
		for (size_t i = 0; i < named.n; i++)
			if ((named.v[i].level == PROTECT_REPORT) == told)
				protect_named(spec, &named.v[i]);
}
