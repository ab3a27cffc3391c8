/* SPDX-License-Identifier: MIT */
/*
 * The supervisor's side of messages to the user: it makes the session's socket before the sandbox starts,
 * and when the first client rings, hands it to the daemon, which it starts when there is none. A sandbox
 * that says nothing costs a directory and a socket. Should the daemon die, the next ring starts another:
 * the socket is ours, and who has connected meanwhile waits in it.
 */
#pragma once

#include "notify/message.h"
#include "notify/place.h"
#include "os/loop.h"
#include "os/ticker.h"

struct doorbell_hooks {
	void (*on_failure)(void *ctx, const struct err *err); /* said once */
	void *ctx;
};

struct doorbell {
	char *base; /* DIR, which has wrapix/ */
	char *daemon;
	struct place place;
	struct doorbell_hooks hooks;
	int dir;                     /* DIR/wrapix/notify/ID, locked while we live; -1: not made */
	int record;                  /* DIR/wrapix/sessions/ID.json, locked too; -1: not written */
	struct loop *loop;           /* NULL: nobody watches */
	struct loop_source listener; /* until it is handed over */
	struct loop_source ready;    /* the daemon that we have started */
	struct loop_source door;     /* the daemon that we have registered with */
	struct ticker ticker;        /* for another attempt */
	unsigned attempts;
	char focus[12];         /* what the terminal reported last; "": nothing */
	struct message message; /* our own words, until there is somebody to hear them */
	bool has_message;
	struct loop last; /* for the last words */
	bool ending;      /* the supervisor waits for the daemon's answer */
};

/* Makes DIR/wrapix/notify/ID with its socket; sweeps what dead sessions left there. */
int doorbell_make(struct doorbell *bell, const char *base, const char *daemon,
		  const struct place *place, const struct doorbell_hooks *hooks, struct err *err);
/* Writes DIR/wrapix/sessions/ID.json and waits for the first ring. */
void doorbell_watch(struct doorbell *bell, struct loop *loop);
/* Leaves the loop; the daemon sees the session's end. Safe for one that was never made. */
void doorbell_unwatch(struct doorbell *bell);
void doorbell_remove(struct doorbell *bell);

/* What the terminal itself says about its focus. */
void doorbell_focus(struct doorbell *bell, bool here);
/* A message of the supervisor's own, in the place of the last one of that kind. */
void doorbell_say(struct doorbell *bell, const char *kind, const char *title, const char *text);

/* The same once nobody watches any more, and before it is removed: waits a moment for the daemon. */
void doorbell_say_last(struct doorbell *bell, const char *kind, const char *title,
		       const char *text);

#define DOORBELL_NONE                                                                     \
	{                                                                                 \
		.dir = -1, .record = -1, .listener.fd = -1, .ready.fd = -1, .door.fd = -1 \
	}
