/* SPDX-License-Identifier: MIT */
/*
 * Taking over what a step did: its files into the project, a commit of them, and the record of it. In this
 * order, each part knowing whether it was done already, so that it can be finished after a kill anywhere:
 *
 *	1. the paths it changed are written down             patches/N.paths, patches/N.diff
 *	   the gate has seen them, together with what landed meanwhile; what it made of them is put back
 *	2. the item is 'landing'                             from here on it is finished, never begun again
 *	3. what they replace and no commit has is kept       before/N, before/N-staged
 *	   the files, by the journal of the session (cow/apply.h)
 *	4. the commit: its id is in the record before the branch moves
 *	5. the item is 'done'
 *	6. the session is removed
 *
 * Before 2 everything can be dropped, after 2 nothing is.
 */
#pragma once

#include "cow/node.h"
#include "ralph/work.h"

/* What is in the session of an attempt, looked at once when the agent has ended. */
struct harvest {
	struct arena arena;
	char *id; /* of the session; NULL: nothing was changed */
	char **paths;
	size_t n;
	size_t ignored;     /* by git: they are left behind */
	struct node *nodes; /* of each path what it was before the gate; NULL: there was none */
};

/*
 * Lists the changes and writes patches/N.diff and N.paths. *ret_verdict is VERDICT_COMPLETE, or
 * VERDICT_REFUSED with the reason: something protected was changed, something that is executed later, or a
 * hidden spec stands in a file.
 */
int land_look(struct work *work, struct attempt *attempt, struct harvest *ret,
	      enum verdict *ret_verdict, struct str *reason, struct err *err);
void harvest_release(struct harvest *harvest);

/*
 * Steps are gated and taken over one at a time, so that a gate sees the very state that it lets through:
 * two that pass alone may break together. 1: it is the turn of 'who'; 0: somebody else's, ask again later.
 */
int land_take_turn(struct work *work, const void *who, struct err *err);
void land_give_turn(struct work *work, const void *who);

/* In one's turn: what landed meanwhile is merged into the session, for the gate. VERDICT_COMPLETE, or
 * VERDICT_CONFLICT with the reason. */
int land_rebase(struct work *work, const struct attempt *attempt, const struct harvest *harvest,
		enum verdict *ret_verdict, struct str *reason, struct err *err);

/* Around the gate, which is not to change what is taken over. After it: VERDICT_COMPLETE, or VERDICT_GATE with the reason. */
int land_keep(struct work *work, const struct attempt *attempt, struct harvest *harvest,
	      struct err *err);
int land_restore(struct work *work, const struct attempt *attempt, const struct harvest *harvest,
		 enum verdict *ret_verdict, struct str *reason, struct err *err);
/* Leaves those of the changes that were looked at. */
struct changes;
void land_choose(struct changes *changes, const struct harvest *harvest);

/* Keeps the files that the changes replace or remove and that no commit has as they are: what the project has of them, and
 * what is staged otherwise. */
int land_save(const struct work *work, const struct attempt *attempt, const struct cow *cow,
	      const struct changes *changes, struct err *err);
/* No landing of this attempt has begun before. */
bool land_saves_first(const struct work *work, const struct attempt *attempt);
/* Nothing was replaced: they are where they were. */
void land_forget(const struct work *work, const struct attempt *attempt);
/* Where they are, for the user. */
void land_tell(const struct work *work, const struct attempt *attempt);

/* In one's turn, too. Takes it over. VERDICT_CONFLICT when it does not fit what is in the project now: nothing was changed, and
 * the session stays. The item is 'landing' before and 'done' afterwards. */
int land_item(struct work *work, const struct item *item, struct attempt *attempt,
	      const struct harvest *harvest, enum verdict *ret_verdict, struct str *reason,
	      struct err *err);

/* Finishes the landing that was interrupted of an item. */
int land_again(struct work *work, const struct item *item, struct err *err);
