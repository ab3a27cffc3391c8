/* SPDX-License-Identifier: MIT */
/* An apply that is on the disk: finished after a kill, or taken back; see work.h. */
#include "cow/apply.h"

#include <errno.h>

#include "cow/work.h"

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

/* What a kill left of one that is not at work: never begun, done, or taken back. */
static int sweep(struct work *w, unsigned number, enum journal_state state, struct err *err)
{
	_cleanup_close_ int dir = journal_open_dir(w->cow, number, false);

	slots_init(&w->slots, w->cow, dir);
	switch (state) {
	case JOURNAL_NEW:
		w->journal.number = number;
		work_drop(w);
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
	unsigned number;
	enum journal_state state = last_state(cow, &number);
	struct work w;
	int r;

	if (!number)
		return 0;
	r = work_begin(&w, cow, options, report, err);
	if (r < 0)
		return r;
	if (state == JOURNAL_COMMIT || state == JOURNAL_UNDO) {
		r = open_work(&w, number, err);
		if (r == 0)
			r = (state == JOURNAL_COMMIT ? work_forward : work_back)(&w, err);
		if (r == 0)
			r = 1;
	} else {
		r = sweep(&w, number, state, err);
	}
	work_end(&w);
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
	if (r == 0 && !number) {
		err_set(err, ENOENT, "nothing of the session '%s' was applied", w->cow->id);
		return err_hint(err, "'wrapix apply %s' takes its changes over", w->cow->id);
	}
	if (r == 0)
		r = open_work(w, number, err);
	if (r == 0)
		r = slots_fetch(&w->slots, &w->journal, err);
	work_tell(w, "begin", 0);
	if (r == 0)
		r = journal_set_state(w->dir, JOURNAL_UNDO, err);
	return r < 0 ? r : work_back(w, err);
}

int apply_undo(struct cow *cow, const struct apply_options *options, struct apply_report *report,
	       struct err *err)
{
	struct work w;
	int r = work_begin(&w, cow, options, report, err);

	if (r < 0)
		return r;
	r = undo(&w, err);
	work_end(&w);
	return r;
}
