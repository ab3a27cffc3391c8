/* SPDX-License-Identifier: MIT */
/* Carrying steps out, forwards and back; see work.h. */
#include "cow/work.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>

#include "os/fs.h"
#include "session/turn.h"

enum { TURN_STEP_US = 100 };

#define MAKES_REPOSITORY (-ENOEXEC) /* no move ends with that */
#define WHY_NOT "git would take the directory for a repository, and run what it says"

static int take_turn(const struct work *w)
{
	return w->turn < 0 ? 0 : turn_await(w->turn, TURN_STEP_US);
}

static void give_turn(const struct work *w)
{
	if (w->turn >= 0)
		flock(w->turn, LOCK_UN);
}

int work_begin(struct work *w, struct cow *cow, const struct apply_options *options,
	       struct apply_report *report, struct err *err)
{
	*w = (struct work){
		.cow = cow, .options = options, .report = report, .dir = -1, .turn = -1
	};
	int r;

	if (!cow->turn)
		return err_set(err, EINVAL, "changing '%s' out of turn", cow->project);
	if (flock(cow->root, LOCK_EX | LOCK_NB) < 0)
		return err_set(err, EBUSY, "another session is being applied to '%s' right now",
			       cow->project);
	r = turn_open(cow->turn, &w->turn);
	if (r < 0) {
		flock(cow->root, LOCK_UN);
		return err_errno(err, -r, "opening '%s'", cow->turn);
	}
	slots_init(&w->slots, cow, -1);
	return 0;
}

void work_end(struct work *w)
{
	slots_release(&w->slots);
	journal_release(&w->journal);
	close_ptr(&w->dir);
	close_ptr(&w->turn);
	flock(w->cow->root, LOCK_UN);
}

void work_tell(const struct work *w, const char *what, size_t i)
{
	if (w->options->on_step)
		w->options->on_step(w->options->ctx, what, i, w->journal.n_steps);
}

static void open_place(const struct work *w, const char *path, struct place_at *ret)
{
	char dir[PATH_MAX];
	const char *slash = strrchr(path, '/');

	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
	ret->dir = os_openat2(w->cow->root, dir, O_RDONLY | O_DIRECTORY, 0,
			      RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
	ret->name = slash ? slash + 1 : path;
}

static void failed(struct work *w, const struct step *step, const char *doing, int r)
{
	bool full = r == -ENOTEMPTY || r == -EEXIST; /* a directory */
	char text[256];

	if (r == -ESTALE)
		snprintf(text, sizeof(text), "it changed while it was being %s", doing);
	else if (full)
		snprintf(text, sizeof(text), "something of yours is in it");
	else if (r == MAKES_REPOSITORY)
		snprintf(text, sizeof(text), WHY_NOT);
	else
		snprintf(text, sizeof(text), "it cannot be %s: %s", doing, strerror(-r));
	apply_report_drop(w->report, step->path);
	apply_report_add(w->report, r == -ESTALE || full ? OUTCOME_CONFLICT : OUTCOME_FAILED,
			 step->path, text);
}

/* The disk or the machine refuses, not the place: the same may work later. */
static bool may_pass(int r)
{
	return r == -ENOSPC || r == -EDQUOT || r == -EIO || r == -ENOMEM || r == -EMFILE ||
	       r == -ENFILE || r == MAKES_REPOSITORY || r == -EAGAIN;
}

/* Something comes to the place. */
static bool arrives(const struct step *step, bool back)
{
	return step->kind == STEP_REPLACE || step->kind == (back ? STEP_REMOVE : STEP_ADD);
}

/* Others may have changed the project since the plan was made: what would make a repository now is not moved. */
static int move_now(struct work *w, size_t i, const struct step *step, bool back)
{
	_cleanup_close_ int dir = -1;
	struct place_at place;

	if (arrives(step, back) && resolve_makes_repository(w->cow, step->path))
		return MAKES_REPOSITORY;
	open_place(w, step->path, &place);
	dir = place.dir;
	return dir < 0 ? dir : slot_move(&w->slots, i, step, &place, back);
}

/* No sandbox changes anything between that look and the move, the name of the directory included. */
static int move_in_turn(struct work *w, size_t i, const struct step *step, bool back)
{
	int r = take_turn(w);

	if (r == 0)
		r = move_now(w, i, step, back);
	give_turn(w);
	return r;
}

/* The move of one step, forwards or back; what was done already is passed over. */
static int move(struct work *w, size_t i, bool back)
{
	const struct step *step = &w->journal.steps[i];
	int r;

	if (step->kind != STEP_MODE && slot_is_moved(&w->slots, i, step) == !back)
		return 0;
	r = move_in_turn(w, i, step, back);
	if (r == -ENOENT && step->kind == STEP_REMOVE && !back)
		return 0; /* the user has removed it, too */
	if (r < 0)
		failed(w, step, back ? "taken back" : "taken over", r);
	return r;
}

static void set_mtime(const struct work *w, const struct touched *touched)
{
	struct timespec times[2] = {
		{ .tv_nsec = UTIME_OMIT },
		{ touched->mtime / 1000000000, touched->mtime % 1000000000 },
	};
	_cleanup_close_ int fd = os_openat2(w->cow->root, touched->path, O_RDONLY | O_DIRECTORY, 0,
					    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
						    RESOLVE_NO_XDEV);

	if (fd >= 0)
		futimens(fd, times); /* a comfort */
}

static void look_at_place(const struct work *w, const char *path, struct node *ret)
{
	struct place_at place;

	*ret = (struct node){ 0 };
	open_place(w, path, &place);
	if (place.dir < 0)
		return;
	node_at(place.dir, place.name, ret);
	close(place.dir);
}

/* The step was made, forwards or back, whatever became of the place since. */
static bool is_made(const struct work *w, size_t i, bool back)
{
	const struct step *step = &w->journal.steps[i];
	struct node now;

	if (step->kind != STEP_MODE)
		return slot_is_moved(&w->slots, i, step) == !back;
	look_at_place(w, step->path, &now);
	return now.mode == (back ? step->pre.mode : step->post.mode);
}

/*
 * What was put into these places is what later changes are measured against: not what is there now, which the user may
 * have changed already. Where nothing was put all stays as it was known. A copy of what was there has a number of its own.
 * What the user had made meanwhile, and the apply took the place of, is a change of the user's again when it is back.
 */
static int refresh(struct work *w, bool back, struct err *err)
{
	const struct journal *j = &w->journal;
	struct manifest_entry *entries = calloc(j->n_steps + 1, sizeof(*entries));
	size_t n = 0;
	int r;

	if (!entries)
		return err_errno(err, ENOMEM, "writing the manifest");
	for (size_t k = 0; k < j->n_steps; k++) {
		size_t i = back ? j->n_steps - 1 - k : k; /* of one place the last counts */
		const struct step *step = &j->steps[i];
		struct node node = back ? step->pre : step->post, now;

		if (!is_made(w, i, back))
			continue;
		if (back && step->base) {
			entries[n++] = *step->base;
			continue;
		}
		look_at_place(w, step->path, &now);
		if (now.size == node.size && now.mtime == node.mtime)
			node.ino = now.ino;
		entries[n++] = (struct manifest_entry){ .path = step->path, .node = node };
	}
	r = manifest_refresh(w->cow, entries, n, err);
	free(entries);
	return r;
}

/* The path of the session's that a step is about, which 'put beside' gives another name. */
static const char *session_path(const struct work *w, struct arena *arena, const char *path)
{
	const char *suffix = arena_printf(arena, ".wrapix-%s", w->cow->id);
	size_t len = strlen(path), tail = strlen(suffix);

	return len > tail && !strcmp(path + len - tail, suffix)
		       ? arena_strndup(arena, path, len - tail)
		       : path;
}

static int unsettle(struct work *w, bool made, struct err *err)
{
	struct journal *j = &w->journal;
	struct manifest_entry *entries = calloc(j->n_steps + 1, sizeof(*entries));
	size_t n = 0;
	int r;

	if (!entries)
		return err_errno(err, ENOMEM, "writing what is settled");
	for (size_t i = 0; i < j->n_steps; i++)
		if (made || !is_made(w, i, false))
			entries[n++].path = session_path(w, &j->arena, j->steps[i].path);
	r = faccessat(w->cow->dir, "settled", F_OK, 0) < 0
		    ? 0
		    : manifest_settle(w->cow, entries, n, err);
	free(entries);
	return r;
}

int work_forward(struct work *w, struct err *err)
{
	int r;

	for (size_t i = 0; i < w->journal.n_steps; i++) {
		work_tell(w, "apply", i);
		/* What fails is reported, and still a change: it can be applied again. */
		(void)move(w, i, false);
	}
	if (w->options->whole && apply_report_is_partial(w->report)) {
		r = journal_set_state(w->dir, JOURNAL_UNDO, err);
		if (r == 0)
			r = work_back(w, err);
		return r < 0 ? r
			     : err_set(err, ECANCELED,
				       "the session's changes do not fit the project");
	}
	work_tell(w, "sync", 0);
	syncfs(w->cow->root);
	r = refresh(w, false, err);
	if (r == 0)
		r = manifest_settle(w->cow, w->journal.settled, w->journal.n_settled, err);
	if (r == 0) /* what failed is as open as before */
		r = unsettle(w, false, err);
	work_tell(w, "keep", 0);
	if (r == 0)
		r = slots_keep(&w->slots, &w->journal, err);
	work_tell(w, "done", 0);
	if (r == 0)
		r = journal_set_state(w->dir, JOURNAL_DONE, err);
	work_tell(w, "leave", 0);
	return r < 0 ? r : slots_leave(&w->slots, err);
}

/* What was there before is in the slots alone: they are not given up as long as it may still come back. */
int work_back(struct work *w, struct err *err)
{
	int r, worst = 0;

	for (size_t i = w->journal.n_steps; i-- > 0;) {
		work_tell(w, "undo", i);
		r = move(w, i, true);
		worst = may_pass(r) ? r : worst;
	}
	if (worst == MAKES_REPOSITORY) {
		err_set(err, EPERM, "not all of it could be taken back: " WHY_NOT);
		return err_hint(err,
				"look at what came there meanwhile (HEAD, objects, refs, config); "
				"'wrapix undo %s' goes on",
				w->cow->id);
	}
	if (worst < 0) {
		err_errno(err, -worst, "not all of it could be taken back");
		return err_hint(err, "'wrapix undo %s' goes on", w->cow->id);
	}
	work_tell(w, "times", 0);
	for (size_t i = w->journal.n_touched; i-- > 0;)
		set_mtime(w, &w->journal.touched[i]);
	syncfs(w->cow->root);
	r = refresh(w, true, err);
	if (r == 0)
		r = unsettle(w, true, err);
	work_tell(w, "undone", 0);
	if (r == 0)
		r = journal_set_state(w->dir, JOURNAL_UNDONE, err);
	work_tell(w, "clean", 0);
	return r < 0 ? r : slots_drop(&w->slots, err);
}

void work_drop(struct work *w)
{
	char name[32];
	struct err ignored;

	slots_drop(&w->slots, &ignored);
	snprintf(name, sizeof(name), "apply/%u", w->journal.number);
	os_remove_tree(w->cow->dir, name);
}
