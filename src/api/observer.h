/* SPDX-License-Identifier: MIT */
/* A session of 'wrapix run' as it happens: the engine's events go on as public ones, into the event log
 * and the registry. */
#pragma once

#include "api/credentials.h"
#include "api/explain.h"
#include "api/gated.h"
#include "api/messages.h"
#include "api/repository.h"
#include "api/workspace.h"
#include "engine/engine.h"
#include "net/owner.h"
#include "session/events.h"
#include "session/session.h"
#include "wrapix.h"

struct observer {
	const struct wrapix_plan *plan;
	wrapix_event_fn *fn;
	void *ctx;
	char id[SESSION_ID_MAX];
	struct session session;
	struct event_log log;
	struct messages messages;
	struct err no_messages; /* why there are none; code 0: there are */
	struct workspace workspace;
	struct credentials credentials;
	struct repository repository;
	struct gated gated;
	struct limit_places limits;
	unsigned limits_hit;              /* bits of enum denial_limit, exact; said at the end */
	struct owners owners;             /* of what was refused without a connection */
	struct str refused, refused_text; /* the last of these, and what was said of it */
};

/* To whoever runs the session. */
void observer_emit(const struct observer *observer, enum wrapix_event_type type, int number,
		   const char *text);
void observer_release(struct observer *observer);
/* A line that the user should see; ctx is an observer. */
void observer_warn(void *ctx, const char *text);
/* The hooks of the engine, of the log, of the messages and of the credentials. */
struct engine_hooks observer_hooks(struct observer *observer);
struct event_log_hooks observer_log_hooks(struct observer *observer);
struct doorbell_hooks observer_message_hooks(struct observer *observer);
struct credential_hooks observer_credential_hooks(struct observer *observer);
/* What is written down of the session; strings are the arena's or the plan's. */
struct session_info observer_describe(struct observer *observer, struct arena *arena);
