/* SPDX-License-Identifier: MIT */
/* Features and their work items, in the database. */
#pragma once

#include "ralph/db.h"

enum item_status {
	ITEM_PROPOSED, /* by an agent; does not count before the user has agreed */
	ITEM_OPEN,
	ITEM_RUNNING, /* a step works on it */
	ITEM_LANDING, /* its step is done, and is being taken over */
	ITEM_DONE,
	ITEM_BLOCKED,  /* the agent says that something else must happen first */
	ITEM_QUESTION, /* the agent asks the user */
	ITEM_FAILED,   /* as often as it may be tried */
	ITEM_DROPPED,  /* by the user */
	ITEM_STATUS_COUNT
};
const char *item_status_name(enum item_status status);
enum item_status item_status_of(const char *name); /* ITEM_STATUS_COUNT: none of them */

struct feature {
	char *name;
	char *spec; /* below the project; of a hidden one below the state directory */
	bool hidden;
	char *title;
	int64_t reviews, created, updated;
};

struct item {
	char *id, *feature, *title, *text;
	bool epic;
	enum item_status status;
	int64_t rank, attempts, created, updated;
	char *notes;  /* what sessions left for later ones */
	char *reason; /* why it is blocked or failed; the question */
	char *answer; /* the user's */
	char *commit; /* that has it */
	char **needs; /* ids, NULL-terminated; NULL: none */
	size_t n_needs;
};

struct items {
	struct arena arena;
	struct item *v; /* by rank */
	size_t n;
};

/* A name that may stand in a path and on a command line: [a-z0-9][a-z0-9._-]*, at most 60 bytes. */
int feature_check_name(const char *name, struct err *err);
int feature_add(struct db *db, const struct feature *feature, struct err *err);
/* -ENOENT with a hint that lists what there is. */
int feature_find(struct db *db, struct arena *arena, const char *name, struct feature *ret,
		 struct err *err);
int feature_list(struct db *db, struct arena *arena, struct feature **ret, size_t *ret_n,
		 struct err *err);
int feature_touch(struct db *db, const char *name, const char *title, struct err *err);
int feature_count_review(struct db *db, const char *name, int64_t reviews, struct err *err);

enum { ITEM_TITLE_MAX = 200 };
/* One line without controls that is not blank, and not too long. */
int item_check_title(const char *title, struct err *err);
/* Such a title, made of what others call theirs; NULL: nothing of it is left. */
char *item_title_of(struct arena *arena, const char *text);

/* Those of a feature, or of all (NULL). */
int items_load(struct db *db, const char *feature, struct items *ret, struct err *err);
void items_release(struct items *items);
struct item *items_find(const struct items *items, const char *id);

/* An id of its own is made where item->id is NULL: *ret_id in the arena. In a transaction. */
int item_add(struct db *db, struct arena *arena, const struct item *item, const char **ret_id,
	     struct err *err);
/* All fields but the id. */
int item_put(struct db *db, const struct item *item, struct err *err);
int item_note(struct db *db, const char *id, const char *note, struct err *err);
/* From 'from' to 'to' and nothing else; -ESTALE when it is in another state. reason may be NULL. */
int item_move(struct db *db, const char *id, enum item_status from, enum item_status to,
	      const char *reason, struct err *err);

/* It may be worked on: open, no epic, all it needs done or dropped. */
bool item_is_ready(const struct items *items, const struct item *item);

struct item_count {
	size_t total, by[ITEM_STATUS_COUNT]; /* without epics and what was dropped */
	size_t ready;
};
void items_count(const struct items *items, struct item_count *ret);

/* -ELOOP, with the ids, when tasks wait for each other in a circle; -ENOENT for a need that is nowhere. */
int items_check(const struct items *items, struct err *err);
