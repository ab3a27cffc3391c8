/* SPDX-License-Identifier: MIT */
/* A new apply: what it needs is staged and written down, then it goes forward; see work.h. */
#include "cow/apply.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "cow/work.h"

static int stage_all(struct work *w, struct err *err)
{
	int r = slots_make(&w->slots, err);

	for (size_t i = 0; r == 0 && i < w->journal.n_steps; i++) {
		struct step *step = &w->journal.steps[i];

		work_tell(w, "stage", i);
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
		qsort(dirs, n, sizeof(*dirs), strv_order);
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

	work_tell(w, "plan", 0);
	r = journal_save(&w->journal, w->dir, err);
	if (r == 0 && syncfs(w->dir) < 0)
		r = err_errno(err, errno, "writing to the disk");
	if (r == 0)
		r = slots_sync(&w->slots, err);
	work_tell(w, "commit", 0);
	return r < 0 ? r : journal_set_state(w->dir, JOURNAL_COMMIT, err);
}

int apply_changes(struct cow *cow, const struct changes *changes,
		  const struct apply_options *options, struct apply_report *report, struct err *err)
{
	bool committed = false;
	struct work w;
	int r = work_begin(&w, cow, options, report, err);

	if (r < 0)
		return r;
	r = prepare(&w, changes, err);
	if (r == 0 && options->whole && apply_report_is_partial(report))
		r = err_set(err, ECANCELED, "not all of the session's changes fit the project");
	if (r == 0 && w.journal.n_steps) {
		r = commit(&w, err);
		committed = r == 0;
	}
	if (committed)
		r = work_forward(&w, err);
	else if (w.dir >= 0)
		work_drop(&w);
	work_end(&w);
	return r;
}
