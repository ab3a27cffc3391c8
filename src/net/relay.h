/* SPDX-License-Identifier: MIT */
/*
 * Guest of the loop: carries bytes between a connection of the sandbox and one of the host's. It
 * buffers nothing: what the far side does not take stays in the near side's socket, so a stalled
 * reader costs the supervisor no memory and the sender its own window.
 */
#pragma once

#include "os/ticker.h"

struct relay_conn;

enum relay_end {
	RELAY_CLOSED,  /* both sides said goodbye */
	RELAY_RESET,   /* one side broke off */
	RELAY_REFUSED, /* the TLS name was another one */
	RELAY_STALLED, /* no TLS hello in time */
};

struct relay_stats {
	uint64_t sent, received; /* seen from inside */
	enum relay_end end;
};

struct relay_hooks {
	/* Once for each connection, before it is forgotten. */
	void (*ended)(void *ctx, void *tag, const struct relay_stats *stats);
	void *ctx;
};

struct relay {
	struct loop *loop;
	struct relay_hooks hooks;
	struct relay_conn *conns;
	size_t n_conns, most; /* most: of those who may be; whoever adds one asks first */
	struct ticker ticker;
	char *buffer; /* one for all: bytes pass through it within a call */
};

/* The options of a socket that is relayed. A listener hands them on to what it accepts. */
void relay_prepare(int fd);
int relay_start(struct relay *relay, struct loop *loop, const struct relay_hooks *hooks,
		struct err *err);
/* Takes both descriptors over; on failure the connection has ended already. tls_name: it must be TLS
 * for this name or no TLS at all; NULL: not looked at. The outside may be in the loop already.
 * relay_prepare() was called for both, or, for one that was accepted, for the listener. */
int relay_add(struct relay *relay, int inside, int outside, const char *tls_name, void *tag,
	      struct err *err);
/* Breaks every connection off for which the function says so. */
void relay_reset_if(struct relay *relay, bool (*doomed)(void *ctx, void *tag), void *ctx);
/* The sandbox is dead: what it has sent before still goes out, and each connection ends as a dead
 * process's does. Waits for peers that take it slowly, at most ten seconds,
 * and two for who takes nothing. */
void relay_finish(struct relay *relay);
/* Breaks off what is left. */
void relay_stop(struct relay *relay);
