/* SPDX-License-Identifier: MIT */
/*
 * Publishing while the sandbox runs: a guest of the supervisor's loop that watches both git
 * directories and, a moment after a change, publishes in a child. The supervisor never waits for git.
 */
#pragma once

#include "git/git.h"
#include "os/loop.h"

struct git_watch {
	struct git_store *store;
	struct loop *loop; /* NULL: not started */
	struct loop_source notes, timer, child;
	pid_t pid;  /* the child; 0: none */
	bool on;    /* the directories are watched */
	bool dirty; /* something changed since it was started */
	void (*on_failure)(void *ctx, const char *text);
	void *ctx;
};
#define GIT_WATCH_NONE                                                               \
	{                                                                            \
		.notes = { .fd = -1 }, .timer = { .fd = -1 }, .child = { .fd = -1 }, \
	}

int git_watch_start(struct git_watch *watch, struct loop *loop, struct git_store *store,
		    void (*on_failure)(void *ctx, const char *text), void *ctx, struct err *err);
/* Waits for a child that is at work. Safe for one that was never started. */
void git_watch_stop(struct git_watch *watch);
