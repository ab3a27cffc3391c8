/* SPDX-License-Identifier: MIT */
/*
 * The slots of an apply (see cow/journal.h): what waits to go into the project, and what came out of it.
 * They must be on the project's mount, for moves are atomic only there. Where the session is on
 * another one (also of the same file system) they lie in the project, as '.wrapix-apply-ID', while something is being done; when it is
 * done what came out is copied to the session and the directory is removed.
 */
#pragma once

#include "cow/journal.h"

struct slots {
	const struct cow *cow;
	int journal;  /* the journal's directory */
	int fd;       /* the directory of the slots; -1: none */
	bool outside; /* in the project */
};

/* Where a step happens. */
struct place_at {
	int dir;
	const char *name;
};

void slots_init(struct slots *slots, const struct cow *cow, int journal);
void slots_release(struct slots *slots);

int slots_make(struct slots *slots, struct err *err);
int slots_open(struct slots *slots, struct err *err);
int slots_sync(struct slots *slots, struct err *err);
/* After all steps: a copy in the session; and, when that is written down, out of the project. */
int slots_keep(struct slots *slots, const struct journal *journal, struct err *err);
int slots_leave(struct slots *slots, struct err *err);
/* Before they are undone: into the project. */
int slots_fetch(struct slots *slots, const struct journal *journal, struct err *err);
int slots_drop(struct slots *slots, struct err *err);

/* Makes what the step adds, from the session or from a merged file in the journal's directory, and notes
 * what it is in step->post. */
int slot_stage(struct slots *slots, size_t i, struct step *step, int upper, int journal);

/* The step was done (and not undone). */
bool slot_is_moved(const struct slots *slots, size_t i, const struct step *step);
/* Does it, or undoes it. -ESTALE when something else is there than was expected: all is as it was. */
int slot_move(struct slots *slots, size_t i, const struct step *step, const struct place_at *place,
	      bool back);
