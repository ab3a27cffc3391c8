/* SPDX-License-Identifier: MIT */
/*
 * Carrying steps out.
 *
 * Order: everything new is staged in the slots; the plan is written; all of it is forced to the disk;
 * the state becomes "commit"; then each step is one atomic move; all is forced to the disk again; the
 * state becomes "done". Killed before "commit": nothing has happened, and what was staged is dropped.
 * Killed after it: the steps that were not done are done.
 *
 * Each place is reached from the project's own descriptor, never through a link and never onto another
 * file system. What comes out of a place is compared with what was expected there: if the user was
 * quicker, it is put back.
 */
#include "cow/apply.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>

#include "base/path.h"
#include "cow/copy.h"
#include "cow/slots.h"
#include "os/fs.h"

/* One apply at work. */
struct work {
	struct cow *cow;
	const struct apply_options *options;
	struct apply_report *report;
	struct journal journal;
	int dir;
	struct slots slots;
};

static void tell(const struct work *w, const char *what, size_t i)
{
	if (w->options->on_step)
		w->options->on_step(w->options->ctx, what, i, w->journal.n_steps);
}

/* Nobody else applies anything to this project meanwhile. */
static int lock_project(const struct cow *cow, struct err *err)
{
	if (flock(cow->root, LOCK_EX | LOCK_NB) < 0)
		return err_set(err, EBUSY, "another session is being applied to '%s' right now",
			       cow->project);
	return 0;
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
	else
		snprintf(text, sizeof(text), "it cannot be %s: %s", doing, strerror(-r));
	apply_report_add(w->report, r == -ESTALE || full ? OUTCOME_CONFLICT : OUTCOME_FAILED,
			 step->path, text);
}

/* The disk or the machine refuses, not the place: the same may work later. */
static bool may_pass(int r)
{
	return r == -ENOSPC || r == -EDQUOT || r == -EIO || r == -ENOMEM || r == -EMFILE ||
	       r == -ENFILE;
}

/* The move of one step, forwards or back; what was done already is passed over. */
static int move(struct work *w, size_t i, bool back)
{
	const struct step *step = &w->journal.steps[i];
	_cleanup_close_ int dir = -1;
	struct place_at place;
	int r;

	if (step->kind != STEP_MODE && slot_is_moved(&w->slots, i, step) == !back)
		return 0;
	open_place(w, step->path, &place);
	dir = place.dir;
	r = dir < 0 ? dir : slot_move(&w->slots, i, step, &place, back);
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

/* What these places are from now on is what later changes are measured against. */
static int refresh(struct work *w, struct err *err)
{
	const struct journal *j = &w->journal;
	struct manifest_entry *entries = calloc(j->n_steps + 1, sizeof(*entries));
	int r;

	if (!entries)
		return err_errno(err, ENOMEM, "writing the manifest");
	for (size_t i = 0; i < j->n_steps; i++) {
		struct place_at place;

		entries[i].path = j->steps[i].path;
		open_place(w, j->steps[i].path, &place);
		if (place.dir >= 0) {
			node_at(place.dir, place.name, &entries[i].node);
			close(place.dir);
		}
	}
	r = manifest_refresh(w->cow, entries, j->n_steps, err);
	free(entries);
	return r;
}

static int go_forward(struct work *w, struct err *err)
{
	int r;

	for (size_t i = 0; i < w->journal.n_steps; i++) {
		tell(w, "apply", i);
		move(w, i,
		     false); /* what fails is reported, and still a change: it can be applied again */
	}
	tell(w, "sync", 0);
	syncfs(w->cow->root);
	r = refresh(w, err);
	tell(w, "keep", 0);
	if (r == 0)
		r = slots_keep(&w->slots, &w->journal, err);
	tell(w, "done", 0);
	if (r == 0)
		r = journal_set_state(w->dir, JOURNAL_DONE, err);
	tell(w, "leave", 0);
	return r < 0 ? r : slots_leave(&w->slots, err);
}

/* What was merged or put beside is open again. */
static int unsettle(struct work *w, struct err *err)
{
	struct journal *j = &w->journal;
	char *suffix = arena_printf(&j->arena, ".wrapix-%s", w->cow->id);
	struct manifest_entry *entries = calloc(j->n_steps + 1, sizeof(*entries));
	int r;

	if (!entries)
		return err_errno(err, ENOMEM, "writing what is settled");
	for (size_t i = 0; i < j->n_steps; i++) {
		const char *path = j->steps[i].path;
		size_t len = strlen(path), tail = strlen(suffix);

		if (len > tail && !strcmp(path + len - tail, suffix))
			path = arena_strndup(&j->arena, path, len - tail);
		entries[i].path = path;
	}
	r = faccessat(w->cow->dir, "settled", F_OK, 0) < 0
		    ? 0
		    : manifest_settle(w->cow, entries, j->n_steps, err);
	free(entries);
	return r;
}

/* What was there before is in the slots alone: they are not given up as long as it may still come back. */
static int go_back(struct work *w, struct err *err)
{
	int r, worst = 0;

	for (size_t i = w->journal.n_steps; i-- > 0;) {
		tell(w, "undo", i);
		r = move(w, i, true);
		worst = may_pass(r) ? r : worst;
	}
	if (worst < 0) {
		err_errno(err, -worst, "not all of it could be taken back");
		return err_hint(err, "'wrapix undo %s' goes on", w->cow->id);
	}
	tell(w, "times", 0);
	for (size_t i = w->journal.n_touched; i-- > 0;)
		set_mtime(w, &w->journal.touched[i]);
	syncfs(w->cow->root);
	r = refresh(w, err);
	if (r == 0)
		r = unsettle(w, err);
	tell(w, "undone", 0);
	if (r == 0)
		r = journal_set_state(w->dir, JOURNAL_UNDONE, err);
	tell(w, "clean", 0);
	return r < 0 ? r : slots_drop(&w->slots, err);
}

/* --- a new one --- */

static int stage_all(struct work *w, struct err *err)
{
	int r = slots_make(&w->slots, err);

	for (size_t i = 0; r == 0 && i < w->journal.n_steps; i++) {
		struct step *step = &w->journal.steps[i];

		tell(w, "stage", i);
		if (step->kind != STEP_ADD && step->kind != STEP_REPLACE)
			continue;
		r = slot_stage(&w->slots, i, step, w->cow->upper, w->dir);
		if (r < 0)
			return err_errno(err, -r, "preparing '%s'", step->path);
	}
	return r;
}

static void touch(struct work *w, const char *path)
{
	struct journal *j = &w->journal;
	struct node node;

	for (size_t i = j->n_touched; i-- > 0;)
		if (!strcmp(j->touched[i].path, path))
			return;
	if (node_at(w->cow->root, path, &node) < 0 || !S_ISDIR(node.mode))
		return; /* a new one */
	*(struct touched *)arena_grow(&j->arena, &j->touched, &j->n_touched,
				      sizeof(struct touched)) = (struct touched){
		arena_strdup(&j->arena, path), node.mtime
	};
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The times of all directories in which names change, and of those that go. */
static void note_times(struct work *w)
{
	struct journal *j = &w->journal;
	const char **dirs = calloc(2 * j->n_steps + 1, sizeof(*dirs));
	size_t n = 0;

	for (size_t i = 0; dirs && i < j->n_steps; i++) {
		const char *path = j->steps[i].path;

		if (j->steps[i].kind != STEP_MODE)
			dirs[n++] = strchr(path, '/') ? path_parent(&j->arena, path) : ".";
		if (S_ISDIR(j->steps[i].pre.mode))
			dirs[n++] = path;
	}
	if (n)
		qsort(dirs, n, sizeof(*dirs), by_name);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || strcmp(dirs[i], dirs[i - 1]) != 0)
			touch(w, dirs[i]);
	free(dirs);
}

static int prepare(struct work *w, const struct changes *changes, struct err *err)
{
	int r;

	w->journal.number = journal_last(w->cow) + 1;
	w->dir = journal_open_dir(w->cow, w->journal.number, true);
	if (w->dir < 0)
		return err_errno(err, -w->dir, "making a directory for the apply");
	slots_init(&w->slots, w->cow, w->dir);
	r = resolve_changes(w->cow, changes, w->options, &w->journal, w->dir, w->report, err);
	if (r == 0 && w->journal.n_steps) {
		note_times(w);
		r = stage_all(w, err);
	}
	return r;
}

static int commit(struct work *w, struct err *err)
{
	int r;

	tell(w, "plan", 0);
	r = journal_save(&w->journal, w->dir, err);
	if (r == 0)
		r = manifest_settle(w->cow, w->journal.settled, w->journal.n_settled, err);
	if (r == 0 && syncfs(w->dir) < 0)
		r = err_errno(err, errno, "writing to the disk");
	if (r == 0)
		r = slots_sync(&w->slots, err);
	tell(w, "commit", 0);
	return r < 0 ? r : journal_set_state(w->dir, JOURNAL_COMMIT, err);
}

static void release(struct work *w)
{
	slots_release(&w->slots);
	journal_release(&w->journal);
	if (w->dir >= 0)
		close(w->dir);
}

static void drop(struct work *w)
{
	char name[32];
	struct err ignored;

	slots_drop(&w->slots, &ignored);
	snprintf(name, sizeof(name), "apply/%u", w->journal.number);
	os_remove_tree(w->cow->dir, name);
}

int apply_changes(struct cow *cow, const struct changes *changes,
		  const struct apply_options *options, struct apply_report *report, struct err *err)
{
	struct work w = { .cow = cow, .options = options, .report = report, .dir = -1 };
	bool committed = false;
	int r = lock_project(cow, err);

	if (r < 0)
		return r;
	slots_init(&w.slots, cow, -1);
	r = prepare(&w, changes, err);
	if (r == 0 && options->whole && apply_report_is_partial(report))
		r = err_set(err, ECANCELED, "not all of the session's changes fit the project");
	if (r == 0 && w.journal.n_steps) {
		r = commit(&w, err);
		committed = r == 0;
	}
	if (committed)
		r = go_forward(&w, err);
	else if (w.dir >= 0)
		drop(&w);
	release(&w);
	flock(cow->root, LOCK_UN);
	return r;
}

/* --- one that is on the disk --- */

static int open_work(struct work *w, unsigned number, struct err *err)
{
	int r;

	w->dir = journal_open_dir(w->cow, number, false);
	if (w->dir < 0)
		return err_errno(err, -w->dir, "opening the apply %u", number);
	r = journal_load(&w->journal, w->dir, err);
	w->journal.number = number;
	slots_init(&w->slots, w->cow, w->dir);
	return r < 0 ? err_wrap(err, "the apply %u", number) : slots_open(&w->slots, err);
}

/* A plan that was written and never begun. */
static int unsettle_dropped(struct work *w, struct err *err)
{
	_cleanup_close_ int dir = journal_open_dir(w->cow, w->journal.number, false);
	unsigned number = w->journal.number;
	int r = 0;

	if (dir >= 0 && journal_load(&w->journal, dir, err) == 0)
		r = unsettle(w, err);
	w->journal.number = number;
	return r;
}

/* What a kill left of one that is not at work: never begun, done, or taken back. */
static int sweep(struct work *w, unsigned number, enum journal_state state, struct err *err)
{
	_cleanup_close_ int dir = journal_open_dir(w->cow, number, false);

	slots_init(&w->slots, w->cow, dir);
	switch (state) {
	case JOURNAL_NEW:
		w->journal.number = number;
		if (unsettle_dropped(w, err) < 0)
			return -err->code;
		drop(w);
		return 0;
	case JOURNAL_DONE:
		return slots_leave(&w->slots, err);
	default:
		return slots_drop(&w->slots, err);
	}
}

static enum journal_state last_state(const struct cow *cow, unsigned *ret_number)
{
	_cleanup_close_ int dir = -1;

	*ret_number = journal_last(cow);
	dir = *ret_number ? journal_open_dir(cow, *ret_number, false) : -1;
	return dir < 0 ? JOURNAL_DONE : journal_state(dir);
}

bool apply_is_interrupted(const struct cow *cow)
{
	unsigned number;
	enum journal_state state = last_state(cow, &number);

	return state == JOURNAL_COMMIT || state == JOURNAL_UNDO;
}

int apply_recover(struct cow *cow, const struct apply_options *options, struct apply_report *report,
		  struct err *err)
{
	struct work w = { .cow = cow, .options = options, .report = report, .dir = -1 };
	unsigned number;
	enum journal_state state = last_state(cow, &number);
	int r;

	if (!number)
		return 0;
	r = lock_project(cow, err);
	if (r < 0)
		return r;
	slots_init(&w.slots, cow, -1);
	if (state == JOURNAL_COMMIT || state == JOURNAL_UNDO) {
		r = open_work(&w, number, err);
		if (r == 0)
			r = (state == JOURNAL_COMMIT ? go_forward : go_back)(&w, err);
		if (r == 0)
			r = 1;
	} else {
		r = sweep(&w, number, state, err);
	}
	release(&w);
	flock(cow->root, LOCK_UN);
	return r;
}

/* The last one that is not taken back, or 0. */
static unsigned last_done(const struct cow *cow, enum journal_state *ret_state)
{
	for (unsigned n = journal_last(cow); n; n--) {
		_cleanup_close_ int dir = journal_open_dir(cow, n, false);

		*ret_state = dir < 0 ? JOURNAL_NEW : journal_state(dir);
		if (*ret_state != JOURNAL_NEW && *ret_state != JOURNAL_UNDONE)
			return n;
	}
	return 0;
}

/* With the project locked. */
static int undo(struct work *w, struct err *err)
{
	enum journal_state state;
	unsigned number;
	int r = 0;

	state = last_state(w->cow, &number);
	if (number && (state == JOURNAL_NEW || state == JOURNAL_UNDONE))
		r = sweep(w, number, state, err);
	journal_release(&w->journal);
	number = last_done(w->cow, &state);
	if (r == 0 && !number)
		return err_set(err, ENOENT, "nothing of the session '%s' was applied", w->cow->id);
	if (r == 0)
		r = open_work(w, number, err);
	if (r == 0)
		r = slots_fetch(&w->slots, &w->journal, err);
	tell(w, "begin", 0);
	if (r == 0)
		r = journal_set_state(w->dir, JOURNAL_UNDO, err);
	return r < 0 ? r : go_back(w, err);
}

int apply_undo(struct cow *cow, const struct apply_options *options, struct apply_report *report,
	       struct err *err)
{
	struct work w = { .cow = cow, .options = options, .report = report, .dir = -1 };
	int r = lock_project(cow, err);

	if (r < 0)
		return r;
	slots_init(&w.slots, cow, -1);
	r = undo(&w, err);
	release(&w);
	flock(cow->root, LOCK_UN);
	return r;
}
