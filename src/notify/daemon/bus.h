/* SPDX-License-Identifier: MIT */
/*
 * The desktop's notification service, org.freedesktop.Notifications, over the session bus. A guest of
 * the loop that connects by itself, and again when the bus has died. bus_none.c stands in for it where
 * there is no sd-bus.
 */
#pragma once

#include "notify/message.h"
#include "os/loop.h"

enum bus_state {
	BUS_DOWN,       /* no bus, or no connection to it yet */
	BUS_CONNECTING, /* what is to be shown may wait for a moment */
	BUS_READY,
};

struct bus_hooks {
	/* The answer to bus_show(): the service's number for it, or 0 and why not. */
	void (*on_shown)(void *ctx, void *cookie, uint32_t id, const char *why);
	void (*on_action)(void *ctx, uint32_t id, const char *key);
	void (*on_closed)(void *ctx, uint32_t id);
	void (*on_change)(void *ctx); /* of the state */
	void *ctx;
};

struct bus;

/* address NULL: the user's own, by the usual variables. NULL without memory. */
struct bus *bus_new(struct loop *loop, const char *address, const struct bus_hooks *hooks);
void bus_free(struct bus *bus);

enum bus_state bus_state(const struct bus *bus);
/* A service is there, and has answered. */
bool bus_works(const struct bus *bus);
/* What it is, or why there is nothing; for people. */
const char *bus_describe(const struct bus *bus);
/* Tries again now, when it is down and was not tried in this very moment. */
void bus_retry(struct bus *bus);

/* Shows a message in place of 'replaces' (0: none); on_shown() follows, unless -errno came. */
int bus_show(struct bus *bus, const struct message *message, uint32_t replaces, void *cookie);
