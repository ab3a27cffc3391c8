/* SPDX-License-Identifier: MIT */
/*
 * The key "ralph" of the user's configuration and of the project's wrapix.json. There is no key that does
 * nothing, and an unknown one is an error.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "ralph/site.h"

enum phase { PHASE_PLAN, PHASE_READY, PHASE_STEP, PHASE_CHECK, PHASE_JUDGE, PHASE_COUNT };
extern const char *const phase_names[PHASE_COUNT];

enum hook { HOOK_PRE_LOOP, HOOK_PRE_STEP, HOOK_POST_STEP, HOOK_POST_LOOP, HOOK_COUNT };
extern const char *const hook_names[HOOK_COUNT];

/* What becomes of a loop when a hook fails. */
enum hook_failure {
	HOOK_BLOCK, /* it ends, with the hook's status */
	HOOK_WARN,  /* it goes on, and says so */
	HOOK_SKIP,  /* pre-step: that task is passed over; else as HOOK_WARN */
};

struct hook_config {
	char *run; /* for a shell; NULL: none */
	enum hook_failure on_failure;
};

struct ralph_config {
	struct arena arena;
	bool from_project; /* what is being read is the project's file */
	char *text;        /* of that file, as it was read; NULL: there is none */
	size_t len;
	char *agent; /* NULL: wrapix's own choice */
	char *models[PHASE_COUNT];
	char *gate;       /* for a shell; NULL: none */
	char *users_gate; /* the user's own, where gate is the project's: both must agree */
	char *specs;      /* the directory of the specs */
	char *pinned;     /* a file of the project that every agent is given */
	struct strv protect;
	struct hook_config hooks[HOOK_COUNT];
	struct hook_config
		users_hooks[HOOK_COUNT]; /* where hooks has the project's: they run first */
	bool commit, push;
	bool push_asked; /* by the project's file, and not by the user's */
	int64_t attempts, parallel;
	int64_t max_steps; /* 0: no limit, here and below */
	double max_cost, step_cost;
	int64_t max_time, step_time; /* seconds */
	int64_t silence, grace;      /* seconds without a line; after the result */
	int64_t keep_logs;
};

/* Lays the two files over the defaults. */
int ralph_config_load(struct ralph_config *config, const struct site *site, struct err *err);
void ralph_config_release(struct ralph_config *config);

/* The object itself, for tests. origin is used in messages. */
struct json_object;
int ralph_config_take(struct ralph_config *config, struct json_object *object, struct err *err);
void ralph_config_init(struct ralph_config *config);

/* The gate in words: the user's own, then the project's. */
const char *config_gate(const struct ralph_config *config, struct arena *arena);

/* "90", "90s", "30m", "2h", "1d" in seconds. */
int parse_duration(const char *text, int64_t *ret, struct err *err);

/* 0 when the user has accepted the very wrapix.json that was read with 'wrapix trust': what --host asks for, and what
 * the project asks to be pushed. */
int ralph_config_is_trusted(const struct ralph_config *config, const struct site *site,
			    struct err *err);
