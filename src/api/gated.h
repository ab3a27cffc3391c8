/* SPDX-License-Identifier: MIT */
/* The name gate of a run (guard/gate.h): where its private places are kept, and what becomes of them. */
#pragma once

#include "api/apart.h"
#include "api/later.h"
#include "cow/aliases.h"
#include "git/watch.h"
#include "plan/plan.h"
#include "spec/protect.h"

/* A repository below the project that the session has a private version of. */
struct gated_repo {
	unsigned number;
	struct git_store store;
	struct git_watch watch;
};

struct gated {
	bool on;
	bool watches; /* what runs later is looked at, with or without a gate */
	char reason[256];
	struct arena arena;
	char *state_home, *state, *id; /* STATE, STATE/wrapix */
	char *project;
	char *common; /* the project's repository; NULL: none */
	int meta, lock;
	struct later before;        /* what runs later, as it was */
	struct later bases;         /* what is held, as the host had it (gated_bases.c) */
	struct strv based;          /* directories of which that is known */
	struct aliases aliases;     /* links whose names count */
	struct links *links;        /* other names of such files; NULL: not looked for yet */
	struct gate_place *carried; /* what earlier sessions left */
	size_t n_carried;
	struct timespec began;
	struct gated_repo **repos;
	size_t n_repos;
	struct loop *loop; /* while it runs: they are published as they change */
	void (*on_failure)(void *ctx, const char *text);
	void (*on_changes)(void *ctx,
			   const struct later_list *list); /* at the end; NULL: nobody asks */
	void *ctx;
};
#define GATED_NONE                      \
	{                               \
		.meta = -1, .lock = -1, \
	}

/* Nothing to do where the plan has no gate, but for what a run that was killed left. */
int gated_begin(struct gated *gated, const struct plan *plan, const struct host *host,
		const char *id, struct arena *arena, struct strv *ret_says, struct err *err);
/* PID 1 of the sandbox, which must be gone before its places are looked at. */
void gated_started(struct gated *gated, pid_t init);
/* From here on, and until it is NULL, repositories below the project are published while it runs. */
void gated_watch(struct gated *gated, struct loop *loop,
		 void (*on_failure)(void *ctx, const char *text), void *ctx);
/* As engine_hooks.on_repository. */
int gated_repository(struct gated *gated, const char *path, unsigned number);
/* As engine_hooks.on_change (gated_change.c). */
enum protect_answer gated_change(struct gated *gated, const struct protect_change *change,
				 const char **ret_reason, size_t *ret_held);
/* The host's tree gets what is data of them and loses the empty names; adds what to tell the user. */
void gated_end(struct gated *gated, struct arena *arena, struct strv *ret_says);

/* The same for runs that were killed, of the project that dir is or lies in. */
void gated_repair(const char *state_home, const char *dir, struct arena *arena,
		  struct strv *ret_says);
