/* SPDX-License-Identifier: MIT */
/*
 * For the files of this room: one apply at work, carrying steps out. apply.c begins a new one, recover.c goes
 * on with one that is on the disk.
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
#pragma once

#include "cow/apply.h"
#include "cow/slots.h"

struct work {
	struct cow *cow;
	const struct apply_options *options;
	struct apply_report *report;
	struct journal journal;
	int dir;  /* the journal's; -1: none */
	int turn; /* with the sandboxes that change files meanwhile; -1: there can be none */
	struct slots slots;
};

/* Nobody else applies anything to this project until the end. After a failure there is nothing to end. */
int work_begin(struct work *w, struct cow *cow, const struct apply_options *options,
	       struct apply_report *report, struct err *err);
void work_end(struct work *w);

void work_tell(const struct work *w, const char *what, size_t i);

/* All steps; what was done already is passed over. The state is "commit" before, and "done" after it; -ECANCELED: not all of it
 * could be done, nothing less was wanted, and the state is "undone". */
int work_forward(struct work *w, struct err *err);
/* All of them back: from "undo" to "undone". */
int work_back(struct work *w, struct err *err);

/* It never began: what was staged goes, and the journal. */
void work_drop(struct work *w);
