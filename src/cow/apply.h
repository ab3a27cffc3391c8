/* SPDX-License-Identifier: MIT */
/* Taking a session's changes over into the project, and back again. */
#pragma once

#include "cow/journal.h"

enum resolution {
	CONFLICTS_MERGE,  /* what merges cleanly; the rest is left as you have it, and listed */
	CONFLICTS_OURS,   /* yours stays */
	CONFLICTS_THEIRS, /* the session's wins */
	CONFLICTS_BOTH,   /* the session's is put beside yours */
};

enum outcome {
	OUTCOME_APPLIED,
	OUTCOME_MERGED,
	OUTCOME_BESIDE,   /* CONFLICTS_BOTH; 'text' is the name */
	OUTCOME_KEPT,     /* yours, as you wanted */
	OUTCOME_CONFLICT, /* left to you; 'text' says why */
	OUTCOME_HELD,     /* sensitive, and not agreed to */
	OUTCOME_REFUSED,  /* never taken over; 'text' says why */
	OUTCOME_FAILED,   /* 'text' says why */
	OUTCOME_REMARK,   /* applied, but 'text' */
};

struct result {
	enum outcome outcome;
	const char *path, *text;
};

struct apply_options {
	enum resolution resolution;
	char *const *paths;
	size_t n_paths;
	bool exact;     /* each path is that of a change, and none below it is meant */
	bool sensitive; /* take over what somebody would execute, too */
	bool whole;     /* all of it or nothing: -ECANCELED when one of them cannot be taken over */
	/* Called before each thing that is done, for who shows progress. */
	void (*on_step)(void *ctx, const char *what, size_t i, size_t n);
	void *ctx;
};

struct apply_report {
	struct arena arena;
	struct result *v;
	size_t n;
	size_t count[OUTCOME_REMARK + 1];
};
void apply_report_release(struct apply_report *report);
/* Something was not taken over. */
bool apply_report_is_partial(const struct apply_report *report);
void apply_report_add(struct apply_report *report, enum outcome outcome, const char *path,
		      const char *text);
void apply_report_drop(struct apply_report *report, const char *path);

/* The session must be locked and the project open, for all of these. */

/* Finishes what was interrupted: an apply that had begun, an undo that had begun. 1 when there was
 * something. */
int apply_recover(struct cow *cow, const struct apply_options *options, struct apply_report *report,
		  struct err *err);
/* True when there is something to recover; needs no lock. */
bool apply_is_interrupted(const struct cow *cow);

int apply_changes(struct cow *cow, const struct changes *changes,
		  const struct apply_options *options, struct apply_report *report,
		  struct err *err);

/*
 * Writes the merges that an apply would make into the session's own files, so that who looks at the
 * session sees what the project would become. The report has what it would come to; nothing in the
 * project changes.
 */
int apply_rebase(struct cow *cow, const struct changes *changes,
		 const struct apply_options *options, struct apply_report *report, struct err *err);

/* Takes the last apply back that was not taken back yet, also one that was interrupted. -ENOENT when
 * there is none. */
int apply_undo(struct cow *cow, const struct apply_options *options, struct apply_report *report,
	       struct err *err);

/* True when git would take a directory on the way to that path for a repository, if the session's
 * version of it were in the project. */
bool resolve_is_repository(struct cow *cow, const char *path);

/* For the files of this room: the same of the project as it is at this moment, with that name added. */
bool resolve_makes_repository(const struct cow *cow, const char *path);

/* For the files of this room: that directory of the project or the session, reached by no link, has that name. */
bool resolve_has_name(int root, const char *dir, const char *name);

/* For the files of this room: the steps that the changes need. dir is the journal's, for merges. */
int resolve_changes(struct cow *cow, const struct changes *changes,
		    const struct apply_options *options, struct journal *journal, int dir,
		    struct apply_report *report, struct err *err);
