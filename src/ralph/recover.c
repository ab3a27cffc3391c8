/* SPDX-License-Identifier: MIT */
/*
 * After a kill. The feature's lock is ours, so whoever worked on it is dead: what it had claimed is free
 * again, what it had begun to land is finished, and its sessions are removed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/dir.h"
#include "os/fs.h"
#include "ralph/step.h"

static int take_back(struct work *work, const struct item *item, struct err *err)
{
	int r = db_begin(&work->db, err);

	if (r == 0)
		r = item_move(&work->db, item->id, ITEM_RUNNING, ITEM_OPEN, item->reason, err);
	if (r == 0)
		r = db_run(&work->db, err,
			   "UPDATE step SET verdict = ?, ended = ?, reason = 'ralph was ended' "
			   "WHERE item = "
			   "? AND verdict = ?",
			   "siss", verdict_name(VERDICT_KILLED), db_now(), item->id,
			   verdict_name(VERDICT_NONE));
	if (r == 0)
		return db_commit(&work->db, err);
	db_rollback(&work->db);
	return r;
}

/* A conflict keeps the session, until the task is done some other way. */
static bool is_kept(const struct items *items, const struct attempt *a)
{
	const struct item *item = items_find(items, a->item);

	return a->verdict == VERDICT_NONE ||
	       (a->verdict == VERDICT_CONFLICT && item && item->status != ITEM_DONE &&
		item->status != ITEM_DROPPED);
}

/* What stood at /run/ralph of an attempt that has ended (turn_start.c). */
static void sweep_run_dirs(struct work *work, const struct attempts *attempts, struct arena *arena)
{
	_cleanup_dir_ DIR *list = opendir(work_file(work, arena, "run"));
	const struct dirent *entry;

	while ((entry = os_dir_next(list)) != NULL) {
		long long id = strtoll(entry->d_name, NULL, 10);

		for (size_t i = 0; id > 0 && i < attempts->n; i++)
			if (attempts->v[i].id == id && attempts->v[i].verdict != VERDICT_NONE)
				(void)os_remove_tree(dirfd(list), entry->d_name); /* or next time */
	}
}

/* Sessions of attempts that have ended. */
int step_sweep(struct work *work, const struct feature *feature, struct err *err)
{
	struct items items = { 0 };
	struct attempts attempts = { 0 };
	struct arena arena = { 0 };
	struct cow_info *list;
	size_t n = 0;
	int r = cow_list_all(&arena, work->site.state_home, &list, &n, err);

	if (r == 0)
		r = attempts_load(&work->db, feature->name, NULL, &attempts, err);
	if (r == 0 && n)
		r = items_load(&work->db, feature->name, &items, err);
	for (size_t i = 0; r == 0 && n && i < attempts.n; i++) {
		const struct attempt *a = &attempts.v[i];

		if (a->session && !is_kept(&items, a) && cow_find(list, n, a->session))
			r = work_discard(work, a->session, err);
	}
	if (r == 0)
		sweep_run_dirs(work, &attempts, &arena);
	attempts_release(&attempts);
	items_release(&items);
	arena_release(&arena);
	return r;
}

/* Sessions that were no step of a task: planning, cutting, reviewing. */
static int close_others(struct work *work, const char *feature, struct err *err)
{
	return db_run(&work->db, err,
		      "UPDATE step SET verdict = ?, ended = ?, reason = 'ralph was ended' WHERE "
		      "feature = ? "
		      "AND verdict = ? AND (item IS NULL OR item NOT IN (SELECT id FROM item WHERE "
		      "status "
		      "IN ('running', 'landing')))",
		      "siss", verdict_name(VERDICT_KILLED), db_now(), feature,
		      verdict_name(VERDICT_NONE));
}

int step_recover(struct work *work, const struct feature *feature, struct err *err)
{
	struct items items;
	int r = items_load(&work->db, feature->name, &items, err);

	for (size_t i = 0; r == 0 && i < items.n; i++) {
		const struct item *item = &items.v[i];

		if (item->status == ITEM_RUNNING) {
			work_say(work, "%s was interrupted; it is open again", item->id);
			r = take_back(work, item, err);
		} else if (item->status == ITEM_LANDING) {
			work_say(work, "%s was being taken over; finishing that", item->id);
			r = land_again(work, item, err);
		}
	}
	items_release(&items);
	if (r == 0)
		r = close_others(work, feature->name, err);
	return r < 0 ? r : step_sweep(work, feature, err);
}
