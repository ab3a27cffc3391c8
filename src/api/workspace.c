/* SPDX-License-Identifier: MIT */
/* The copy-on-write session of a run. */
#include "api/workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/path.h"
#include "base/str.h"
#include "cow/apply.h"
#include "cow/base.h"
#include "cow/changes.h"
#include "cow/manifest.h"
#include "os/proc.h"
#include "session/record.h"

/* The plan's operation that gives the session its git directory's layer. */
static const struct op *git_layer(const struct plan *plan)
{
	for (size_t i = 0; i < plan->n_ops; i++)
		if (plan->ops[i].kind == OP_COW && !strcmp(plan->ops[i].layer, LAYER_DIR_GIT))
			return &plan->ops[i];
	return NULL;
}

static int create(struct workspace *workspace, const struct plan *plan, const struct host *host,
		  const char *id, struct err *err)
{
	const struct op *git = git_layer(plan);
	struct cow_about about = {
		.base = plan->cow_base,
		.id = id,
		.name = plan->name,
		.project = plan->project,
		.git_top = host->project.git == GIT_NONE ? NULL : host->project.top,
		.copy = !host->cow_overlay,
		.git_layer = git != NULL,
		.git_dir = git ? git->src : NULL,
	};

	return cow_create(&workspace->cow, &about, err);
}

static int resume(struct workspace *workspace, const struct plan *plan, struct err *err)
{
	struct cow *cow = &workspace->cow;
	int r = cow_open(cow, plan->cow_base, plan->resume, err);

	if (r == 0)
		r = cow_lock(cow, err);
	if (r == 0 && apply_is_interrupted(cow)) {
		err_set(err, EBUSY, "an apply of the session '%s' was interrupted", cow->id);
		return err_hint(err,
				"'wrapix apply %s' finishes it, 'wrapix undo %s' takes it back",
				cow->id, cow->id);
	}
	if (r == 0 && strcmp(cow->project, plan->project) != 0)
		return err_set(err, ESTALE, "the session '%s' belongs to '%s'", cow->id,
			       cow->project);
	return r;
}

int workspace_begin(struct workspace *workspace, const struct plan *plan, const struct host *host,
		    const char *id, struct err *err)
{
	int r;

	*workspace = (struct workspace)WORKSPACE_NONE;
	if (!plan->cow_base)
		return 0;
	r = plan->resume ? resume(workspace, plan, err) : create(workspace, plan, host, id, err);
	if (r == 0)
		r = cow_open_project(&workspace->cow, err);
	workspace->on = r == 0;
	workspace->is_new = !plan->resume;
	if (r < 0)
		cow_close(&workspace->cow);
	return r;
}

const char *workspace_layers(struct workspace *workspace)
{
	struct cow *cow = &workspace->cow;

	return workspace->on ? path_join(&cow->arena, cow->base, cow->id) : NULL;
}

/* We are the parent of PID 1 and have not reaped it: the number is its own. */
static void end_full(void *ctx, uint64_t used)
{
	struct workspace *workspace = ctx;
	char text[160];

	snprintf(text, sizeof(text),
		 "the changes take %llu MiB, and may take %llu: the session ends, and keeps them",
		 (unsigned long long)(used >> 20),
		 (unsigned long long)(workspace->disk.limit >> 20));
	workspace->on_full(workspace->ctx, text);
	if (workspace->init > 0)
		kill(workspace->init, SIGKILL);
}

void workspace_watch(struct workspace *workspace, struct loop *loop, const struct plan *plan,
		     void (*on_full)(void *ctx, const char *text), void *ctx)
{
	struct err err;

	if (!workspace->on)
		return;
	if (!loop) {
		disk_guard_stop(&workspace->disk);
		return;
	}
	workspace->on_full = on_full;
	workspace->ctx = ctx;
	if (disk_guard_start(&workspace->disk, loop, &workspace->cow, plan->cow_limit, end_full,
			     workspace, &err) < 0)
		on_full(ctx, err.msg); /* it is not limited, then */
}

static void fsync_name(int dir, const char *name)
{
	_cleanup_close_ int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		fsync(fd);
}

/* Nothing is in it that anybody would come back for. */
static bool is_for_nothing(const struct cow *cow)
{
	return cow_is_empty(cow) && faccessat(cow->dir, "apply", F_OK, 0) < 0;
}

/* The sandbox is gone, and will have changed nothing. Another process that got its number only costs time. */
static bool ended_for_nothing(const struct workspace *workspace)
{
	return workspace->init > 0 && kill(workspace->init, 0) < 0 && errno == ESRCH &&
	       is_for_nothing(&workspace->cow);
}

/* A copy of the supervisor that must hold nothing of it. */
_Noreturn static void write_down(struct workspace *workspace, pid_t parent)
{
	struct cow *cow = &workspace->cow;
	int keep[] = { cow->dir, cow->root, cow->upper };
	struct err err;

	os_become_worker(parent, keep, ARRAY_LEN(keep));
	(void)!nice(5);
	fsync_name(cow->dir, "meta"); /* nobody waits for it here */
	/* Each that is missing only means that less is merged, and more is asked. */
	manifest_write(cow, &err);
	if (!ended_for_nothing(workspace))
		base_write(cow, &err);
	_exit(0);
}

void workspace_started(struct workspace *workspace, pid_t init)
{
	pid_t parent = getpid();

	if (!workspace->on)
		return;
	workspace->init = init;
	record_note_init(workspace->cow.dir, init);
	if (faccessat(workspace->cow.dir, "manifest", F_OK, 0) == 0)
		return; /* of the first start */
	workspace->scribe = fork();
	if (workspace->scribe == 0)
		write_down(workspace, parent);
}

static void tell(struct workspace *workspace, struct arena *arena, struct strv *ret_says)
{
	uint64_t excess = disk_guard_excess(&workspace->disk);
	struct changes changes;
	const char *id = workspace->cow.id;
	struct err err;
	size_t n = 0;

	if (excess)
		strv_addf(arena, ret_says,
			  "the changes take %llu MiB, and were to take %llu at most (--disk): the "
			  "session was over before that was seen",
			  (unsigned long long)(excess >> 20),
			  (unsigned long long)(workspace->disk.limit >> 20));
	if (changes_find(&changes, &workspace->cow, &err) < 0) {
		strv_addf(arena, ret_says, "%s", err.msg);
		return;
	}
	for (size_t i = 0; i < changes.n; i++)
		n += !change_is_implied(&changes, i);
	if (n)
		strv_addf(arena, ret_says,
			  "%zu %s changed in the session %s, none in the project: 'wrapix diff %s' "
			  "shows what, 'wrapix review %s' goes through it, 'wrapix apply %s' takes "
			  "it "
			  "over",
			  n, n == 1 ? "file was" : "files were", id, id, id, id);
	else
		strv_addf(arena, ret_says,
			  "no file was changed%s; 'wrapix discard %s' removes the session",
			  changes.git ? " outside .git" : "", id);
	changes_release(&changes);
}

/* What a program could read and not write, without knowing why. */
static void tell_foreign(const struct workspace *workspace, struct arena *arena,
			 struct strv *ret_says)
{
	_cleanup_str_ struct str quoted = { 0 };
	size_t n;
	char *first = manifest_foreign(&workspace->cow, arena, &n);

	if (first)
		strv_addf(arena, ret_says,
			  "%zu %s of the project %s to another user or group (%s%s) and can be "
			  "read in a view, not changed: chown and chgrp give %s to you",
			  n, n == 1 ? "file" : "files", n == 1 ? "belongs" : "belong",
			  str_quote(&quoted, first), n == 1 ? "" : " ...", n == 1 ? "it" : "them");
}

/* Those that nobody looked at for long. */
static void tell_old(const struct workspace *workspace, struct arena *arena, struct strv *ret_says)
{
	struct cow_info *list = NULL;
	size_t n = 0, old = 0;
	struct err err;

	if (cow_list(arena, workspace->cow.base, &list, &n, &err) < 0)
		return; /* not worth a word at the end of a run */
	for (size_t i = 0; i < n; i++)
		old += cow_is_old(&list[i]);
	if (old)
		strv_addf(arena, ret_says,
			  "%zu copy-on-write %s older than 14 days: 'wrapix ps' shows %s, 'wrapix "
			  "discard --old' goes through %s",
			  old, old == 1 ? "session is" : "sessions are", old == 1 ? "it" : "them",
			  old == 1 ? "it" : "them");
}

void workspace_end(struct workspace *workspace, bool failed, struct arena *arena,
		   struct strv *ret_says)
{
	struct err err;

	if (!workspace->on)
		return;
	(void)os_await(workspace->scribe);
	if (!failed)
		tell_foreign(workspace, arena, ret_says);
	if ((failed && workspace->is_new) || is_for_nothing(&workspace->cow))
		cow_remove(&workspace->cow, &err); /* else the next list sweeps it */
	else if (!failed)
		tell(workspace, arena, ret_says);
	if (!failed)
		tell_old(workspace, arena, ret_says);
	cow_close(&workspace->cow);
	workspace->on = false;
}
