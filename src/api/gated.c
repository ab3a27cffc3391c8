/* SPDX-License-Identifier: MIT */
/*
 * The private places of a run.
 *
 *	STATE/wrapix/gate/ID/meta     the project (JSON)
 *	                    /lock     flock: held while the sandbox runs
 *	                    /places   guard/gate.h
 *	                    /notes    api/later.h
 *	STATE/wrapix/gatedirs/ID/N    what the sandbox wrote
 *
 * gated_change.c says what becomes of a change, gated_end.c of all of it at the end.
 */
#include "api/gated_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "api/protection.h"
#include "api/repository.h"
#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "os/fs.h"
#include "session/record.h"

static char *meta_dir(struct gated *gated)
{
	return arena_printf(&gated->arena, "%s/gate/%s", gated->state, gated->id);
}

int gated_lock(struct gated *gated)
{
	int r = record_lock_ended(gated->meta);

	gated->lock = r < 0 ? -1 : r;
	return MIN(r, 0);
}

void gated_release(struct gated *gated)
{
	for (size_t i = 0; i < gated->n_repos; i++)
		git_close(&gated->repos[i]->store);
	later_release(&gated->before);
	later_release(&gated->bases);
	close_ptr(&gated->lock);
	close_ptr(&gated->meta);
	arena_release(&gated->arena);
	*gated = (struct gated)GATED_NONE;
}

void gated_name(struct gated *gated, const char *state_home, const char *id)
{
	*gated = (struct gated)GATED_NONE;
	gated->state_home = arena_strdup(&gated->arena, state_home);
	gated->state = path_join(&gated->arena, state_home, "wrapix");
	gated->id = arena_strdup(&gated->arena, id);
}

static int make(struct gated *gated, const struct plan *plan, struct err *err)
{
	_cleanup_str_ struct str out = { 0 };
	char *dir = meta_dir(gated);
	int r = os_mkdirs(dir, 0700, err);

	if (r == 0)
		r = os_mkdirs(
			arena_printf(&gated->arena, "%s/gatedirs/%s", gated->state, gated->id),
			0700, err);
	if (r < 0)
		return r;
	record_sweep(gated->state, "gate", "gatedirs");
	gated->meta = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (gated->meta < 0)
		return err_errno(err, errno, "opening '%s'", dir);
	r = gated_lock(gated);
	if (r < 0)
		return err_errno(err, -r, "locking '%s'", dir);
	str_add(&out, "{\"version\": 1, \"project\": ");
	json_add_string(&out, plan->project);
	str_add(&out, ", \"protect\": [");
	protection_add(&out, &plan->protect);
	str_add(&out, "]}\n");
	return record_write_file(gated->meta, "meta", out.s, out.len, err);
}

/* What is to be told at the end is known by a file, too: the end may not come. */
static void keep_notes(struct gated *gated)
{
	int fd = openat(gated->meta, "notes",
			O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);

	gated->before.file = fd < 0 ? 0 : MAX(fcntl(fd, F_DUPFD_CLOEXEC, 3), 0);
	close_ptr(&fd);
}

int gated_begin(struct gated *gated, const struct plan *plan, const struct host *host,
		const char *id, struct arena *arena, struct strv *ret_says, struct err *err)
{
	int r;

	*gated = (struct gated)GATED_NONE;
	if (plan->project)
		gated_repair(host->state_home, plan->project, arena, ret_says);
	if (!plan->gate && (!plan->project || plan->cow_base))
		return 0;
	gated_name(gated, host->state_home, id);
	gated->project = arena_strdup(&gated->arena, plan->project);
	gated->watches = true;
	gated->before.protection = plan->protect;
	gated->before.noted = plan->gate;
	if (!plan->gate) {
		gated_look_at_top(gated);
		later_look(&gated->before, gated->project);
		return 0;
	}
	gated->common = arena_strdup(&gated->arena, plan->git_common);
	r = make(gated, plan, err);
	if (r < 0) {
		gated_release(gated);
		err_wrap(err, "preparing the name gate");
		return err->hint[0] ? -err->code
				    : err_hint(err, "--git direct does without, and the host's git "
						    "obeys what the sandbox writes");
	}
	gated->on = true;
	keep_notes(gated);
	apart_carry(host->state_home, gated->project, id, gated->meta, &gated->arena,
		    &gated->carried, &gated->n_carried);
	for (size_t i = 0; i < gated->n_carried; i++)
		strv_add(&gated->arena, &gated->based,
			 path_below(gated->carried[i].path, gated->project));
	return 0;
}

void gated_started(struct gated *gated, pid_t init)
{
	if (gated->on)
		record_note_init(gated->meta, init);
}

/* ------------------------------------------------------------------ repositories of the host's */

char *gated_place(struct gated *gated, unsigned number)
{
	return arena_printf(&gated->arena, "%s/gatedirs/%s/%u", gated->state, gated->id, number);
}

/* Each is a session of its own to 'wrapix git'. */
struct git_about gated_about(struct gated *gated, unsigned number, const char *path)
{
	static const struct strv none;
	struct arena *a = &gated->arena;
	char *real = path_is_below(path, gated->project) ? arena_strdup(a, path) : NULL;

	return (struct git_about){
		.state_home = gated->state_home,
		.id = arena_printf(a, "%sn%u", gated->id, number),
		.project = gated->project,
		.top = real ? path_parent(a, real) : NULL,
		.real = real,
		.common = real,
		.program = repository_program(a, gated->project),
		.borrowed = &none,
		.inner = true,
	};
}

/* The host's objects will be seen among its own. */
static int drop_alternates(const char *private)
{
	_cleanup_close_ int dir = open(private, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return unlinkat(dir, "objects/info/alternates", 0) < 0 && errno != ENOENT ? -errno : 0;
}

/* While it runs its git directory stands where the sandbox has it from, and where its store knows it else. */
static void watch_one(struct gated *gated, struct gated_repo *repo)
{
	struct git_store *store = &repo->store;
	struct err err;

	git_watch_stop(&repo->watch);
	store->private = gated->loop ? gated_place(gated, repo->number)
				     : arena_printf(&store->arena, "%s/gitdirs/%s/0", gated->state,
						    store->id);
	if (gated->loop && git_watch_start(&repo->watch, gated->loop, store, gated->on_failure,
					   gated->ctx, &err) < 0)
		gated->on_failure(gated->ctx, err.msg); /* it is published at the end, then */
}

int gated_repository(struct gated *gated, const char *path, unsigned number)
{
	struct git_about about = gated_about(gated, number, path);
	struct gated_repo *repo;
	struct git_store store;
	struct err err;

	if (!gated->on || !about.real || !about.program)
		return -ENOENT;
	if (git_prepare(&store, &about, &err) < 0)
		return -err.code;
	if (drop_alternates(store.private) < 0 ||
	    rename(store.private, gated_place(gated, number)) < 0) {
		git_remove(&store, &err);
		git_close(&store);
		return -EIO;
	}
	repo = arena_alloc(&gated->arena, sizeof(*repo));
	*repo = (struct gated_repo){ number, store, GIT_WATCH_NONE };
	*(struct gated_repo **)arena_grow(&gated->arena, (void *)&gated->repos, &gated->n_repos,
					  sizeof(repo)) = repo;
	watch_one(gated, repo);
	return 0;
}

void gated_watch(struct gated *gated, struct loop *loop,
		 void (*on_failure)(void *ctx, const char *text), void *ctx)
{
	gated->loop = loop;
	gated->on_failure = on_failure;
	gated->ctx = ctx;
	for (size_t i = 0; i < gated->n_repos; i++)
		watch_one(gated, gated->repos[i]);
}
