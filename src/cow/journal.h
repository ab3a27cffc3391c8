/* SPDX-License-Identifier: MIT */
/*
 * What one 'apply' does, written down before it does anything, so that it can be finished or taken back
 * from every point at which it may be killed.
 *
 *	BASE/ID/apply/N/plan            the steps
 *	                state           "commit", "done", "undo" or "undone"; none: it never began
 *	                slots/I         one for each step; or, when the project is on another file
 *	                                system, PROJECT/.wrapix-apply-ID/I until it is done
 *
 * A step moves one thing between its place in the project and its slot, atomically: a new file or
 * directory waits in the slot and goes out, a replaced one changes places with it, a removed one goes
 * in. So whether a step was done is seen from its slot and never guessed, and undoing is the same move
 * again. The file format, text with a NUL after each record and numbers in hexadecimal:
 *
 *	wrapix-apply 1\0
 *	KIND PRE-MODE SIZE MTIME INO POST-MODE SIZE MTIME INO PATH\0
 *	base LATE MODE SIZE MTIME INO PATH\0	of the step before it; LATE is 0 or 1
 *	dir MTIME PATH\0		a directory in which names change, and its time before
 *	settled MODE SIZE MTIME INO PATH\0	a version of the session's, see manifest_settle()
 *	end\0
 */
#pragma once

#include "cow/changes.h"
#include "spec/file_rules.h"

#define APPLY_DIR FILE_APPLY_DIR /* and the session's id: slots that must be in the project */

enum step_kind {
	STEP_ADD,     /* slot -> place, where nothing is */
	STEP_REPLACE, /* slot <-> place */
	STEP_REMOVE,  /* place -> slot */
	STEP_MODE,    /* the mode alone */
};

struct step {
	enum step_kind kind;
	const char *path;
	struct node pre,
		post;   /* at the place; the post of an added or replaced one when it is staged */
	unsigned phase; /* the order: see journal_sort() */
	const char *source; /* in the session, where the content comes from */
	const char *merged; /* or a file in the journal's directory */
	/* What it met was not what the session began with: that is what later changes are measured against when it was
	 * taken back. NULL: it was. */
	const struct manifest_entry *base;
};

struct touched {
	const char *path; /* "." for the project itself */
	int64_t mtime;
};

struct journal {
	struct arena arena;
	unsigned number;
	struct step *steps;
	size_t n_steps;
	struct touched *touched;
	size_t n_touched;
	struct manifest_entry *settled; /* by this apply, once it is done */
	size_t n_settled;
};

enum journal_state { JOURNAL_NEW, JOURNAL_COMMIT, JOURNAL_DONE, JOURNAL_UNDO, JOURNAL_UNDONE };

/* Modes that open come first, then removals from the bottom up, additions from the top down, other
 * modes from the bottom up. */
void journal_sort(struct journal *journal);

/* apply/N; made with 'make'. The descriptor or -errno. */
int journal_open_dir(const struct cow *cow, unsigned number, bool make);
/* The highest N there is, 0 for none. */
unsigned journal_last(const struct cow *cow);

int journal_save(const struct journal *journal, int dir, struct err *err);
int journal_load(struct journal *journal, int dir, struct err *err);
int journal_set_state(int dir, enum journal_state state, struct err *err);
enum journal_state journal_state(int dir);
void journal_release(struct journal *journal);

/* For tests; the text is changed and must live as long. */
int journal_parse(struct journal *journal, char *text, size_t len, struct err *err);
