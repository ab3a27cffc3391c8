/* SPDX-License-Identifier: MIT */
/* The network of a running sandbox as its supervisor keeps it: attached on first use, filtered where
 * the plan says so, with ports in both directions, and rules that the user may change. */
#pragma once

#include "engine/rules_door.h"
#include "engine/sandbox.h"
#include "guard/dispatch.h"
#include "net/filter.h"
#include "net/lazy.h"
#include "os/loop.h"

struct network {
	struct sandbox *sandbox;
	struct loop *loop;
	struct dispatch *dispatch;     /* the lazy network is a guest of it */
	struct lazy_net lazy;          /* open */
	struct filter filter;          /* filtered */
	struct loop_source uplink_end; /* of the open one that was attached before the start */
	bool filter_failed;
	struct rules_door door;
	void (*on_raised)(void *ctx); /* somebody waits for it; NULL: nobody does */
	void *raised_ctx;
};

/* Always leaves it ready for network_stop(). */
int network_start(struct network *network, struct loop *loop, struct sandbox *sandbox,
		  struct dispatch *dispatch, struct err *err);
/* Once the session is registered: lets the user change the rules, where there are any. */
void network_open_door(struct network *network);
/* For a process inside that no filter makes ask: brings the network up, if it is one that waits to be
 * used, and then calls fn, also when that failed. One at a time. */
void network_raise(struct network *network, void (*fn)(void *ctx), void *ctx);
/* Puts other rules in the place of those that the filter has. */
int network_set_rules(struct network *network, const struct engine_rules *rules, struct err *err);
void network_stop(struct network *network);
