/* SPDX-License-Identifier: MIT */
/*
 * Guest of the loop: the door by which the user changes the rules of a running sandbox's network (session/control.h).
 * Where it cannot be opened they stay as they are.
 */
#pragma once

#include "engine/sandbox.h"
#include "os/ticker.h"
#include "session/control.h"
#include "session/request.h"

/* Makes the change, all of it or nothing. */
typedef int rules_change_fn(void *ctx, const struct request *request, struct err *err);

struct rules_door {
	struct sandbox *sandbox;
	struct loop *loop;
	struct ticker due; /* a command that ends at once needs no door */
	struct control_server server;
	rules_change_fn *fn;
	void *ctx;
};

/* Once the session is registered: a second later, where somebody has a socket for it. */
void rules_door_open(struct rules_door *door, struct loop *loop, struct sandbox *sandbox,
		     rules_change_fn *fn, void *ctx);
/* Safe for one that was never opened. */
void rules_door_close(struct rules_door *door);
