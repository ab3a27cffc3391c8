/* SPDX-License-Identifier: MIT */
/*
 * Notices that the command waits for its user, for agents that have no hooks to say so: a bell or a message
 * in its output, or silence while nothing inside works. Also hears what the terminal reports about its
 * focus. A guest of the supervisor's loop.
 */
#pragma once

#include <sys/types.h>

#include "notify/doorbell.h"
#include "notify/waiting.h"

struct watcher {
	struct doorbell *bell; /* NULL: not started */
	struct waiting waiting;
	struct ticker ticker;
	int64_t idle; /* seconds; 0: hears the focus and nothing else */
	pid_t init;   /* PID 1 of the sandbox */
	char title[64];
	uint64_t cpu; /* of all processes inside, when it was last looked */
	int64_t rung; /* when the bell was last told */
};

/* title: what the messages are headed with. */
int watcher_start(struct watcher *watcher, struct loop *loop, struct doorbell *bell, pid_t init,
		  uint64_t idle, const char *title, struct err *err);
void watcher_bytes(struct watcher *watcher, bool from_user, const char *bytes, size_t len);
void watcher_stop(struct watcher *watcher); /* safe for one that was not started */
