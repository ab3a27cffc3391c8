/* SPDX-License-Identifier: MIT */
/* Messages to the user from one session: the doorbell, and what watches the terminal. */
#pragma once

#include "api/api.h"
#include "notify/doorbell.h"
#include "notify/porch.h"
#include "notify/watcher.h"

struct messages {
	const struct plan *plan;
	const struct host *host;
	struct doorbell bell;
	struct porch porch; /* of a virtual machine that has no other way */
	struct watcher watcher;
	struct loop *loop;
};

#define MESSAGES_NONE                                       \
	{                                                   \
		.bell = DOORBELL_NONE, .porch = PORCH_NONE, \
	}

/* Before the start. An error costs the messages and nothing else. */
int messages_make(struct messages *messages, const struct plan *plan, const struct host *host,
		  const char *id, const struct doorbell_hooks *hooks, struct err *err);
/* What the command is to know of the way, in a plan that is about to be run. */
void messages_tell(const struct messages *messages, struct plan *plan);
/* With the supervisor's loop; NULL: it ends. */
void messages_watch(struct messages *messages, struct loop *loop);
/* The command runs, below this PID 1. */
void messages_started(struct messages *messages, pid_t init);
void messages_bytes(struct messages *messages, bool from_user, const char *bytes, size_t len);
/* A line of the log about a refusal; told where the user wants it. */
void messages_refused(struct messages *messages, const char *line);
/* At the end, before messages_remove(): files that run later were changed, some are held. Told where refusals are. */
void messages_later(struct messages *messages, size_t n, size_t held);
void messages_remove(struct messages *messages);
