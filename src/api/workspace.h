/* SPDX-License-Identifier: MIT */
/* The copy-on-write session of a run: made before it, described while it runs, told of at its end. */
#pragma once

#include "cow/cow.h"
#include "cow/disk.h"
#include "spec/host.h"
#include "plan/plan.h"

struct workspace {
	bool on, is_new;
	struct cow cow;
	pid_t init; /* PID 1 of the sandbox; 0: not started */
	struct disk_guard disk;
	void (*on_full)(void *ctx, const char *text);
	void *ctx;
	pid_t scribe; /* writes the manifest while the command runs; 0: none */
};
#define WORKSPACE_NONE           \
	{                        \
		.cow = COW_NONE, \
	}

/* Nothing to do where the plan works in the project itself. */
int workspace_begin(struct workspace *workspace, const struct plan *plan, const struct host *host,
		    const char *id, struct err *err);
/* The directory of the layers, or NULL. */
const char *workspace_layers(struct workspace *workspace);
/* Guest of the loop: a session whose changes take more room than the plan says is ended, after on_full
 * was told. NULL before the loop goes. */
void workspace_watch(struct workspace *workspace, struct loop *loop, const struct plan *plan,
		     void (*on_full)(void *ctx, const char *text), void *ctx);
void workspace_started(struct workspace *workspace, pid_t init);
/* Waits for what is still being written down, and adds what the user should be told. A session that
 * changed nothing, or a new one that failed to start, is removed. */
void workspace_end(struct workspace *workspace, bool failed, struct arena *arena,
		   struct strv *ret_says);
