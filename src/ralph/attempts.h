/* SPDX-License-Identifier: MIT */
/* What was tried: one record a session of an agent, kept for 'status', 'logs' and 'report'. */
#pragma once

#include "ralph/items.h"
#include "ralph/verdict.h"

struct attempt {
	int64_t id;
	char *feature, *item; /* item NULL: not of one task */
	char *phase;          /* "plan", "ready", "step", "check", "judge" */
	char *session;        /* the name of its copy-on-write session */
	enum verdict verdict; /* VERDICT_NONE: not ended */
	char *reason, *errors;
	char *log, *patch; /* files in the state directory */
	char *commit;
	int64_t started, ended;
	double cost;
	int64_t tokens_in, tokens_out;
};

struct attempts {
	struct arena arena;
	struct attempt *v; /* oldest first */
	size_t n;
};

/* A new one; id and started are filled in. In a transaction, where something else belongs to it. */
int attempt_begin(struct db *db, struct attempt *attempt, struct err *err);
/* All that may have changed since. */
int attempt_put(struct db *db, const struct attempt *attempt, struct err *err);

/* Of a feature (NULL: all) and an item (NULL: all). */
int attempts_load(struct db *db, const char *feature, const char *item, struct attempts *ret,
		  struct err *err);
void attempts_release(struct attempts *attempts);
