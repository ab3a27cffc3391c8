/* SPDX-License-Identifier: MIT */
/*
 * Ports in both directions. A guest of the loop.
 *
 *	host                      supervisor                            sandbox
 *	----                      ----------                            -------
 *	client -> 127.0.0.1:8080  accept, connect from inside, relay -> 127.0.0.1:3000    published
 *	127.0.0.1:5432         <- accept inside, connect, relay      <- 127.0.0.1:5432    host port
 *
 * What is asked for is taken before the command starts, so that a port that is not to be had stops
 * the start and a command may connect at once:
 *
 *	ports_bind()	the host's side, before there is a sandbox
 *	ports_enter()	the sandbox's side, before there is a command
 *	ports_start()	from here on connections are served
 *	ports_stop()	what the sandbox has sent still goes out
 */
#pragma once

#include "net/filter.h"
#include "net/relay.h"
#include "os/ticker.h"
#include "spec/spec.h"

#define PORTS_POOL 32 /* filling it costs little more than one socket would */

struct call;
struct auto_publish;

struct ports_hooks {
	void (*note)(void *ctx, const char *text); /* a line for the user */
	void (*warn)(void *ctx, const struct err *err);
	net_event_fn *on_event; /* a connection to the host's service has ended */
	/* A port inside on which the supervisor itself listens. */
	bool (*is_own)(void *ctx, uint16_t port);
	void *ctx;
};

/* A port that is listened on, on one side, and where its connections go on the other. */
struct forward {
	struct ports *ports;
	struct forward *next, **link;
	struct loop_source source;
	bool into;         /* listens inside */
	uint16_t port, to; /* in host order */
};

struct ports {
	struct loop *loop; /* NULL: not started */
	struct ports_hooks hooks;
	int netns;
	bool automatic; /* publish what listens inside; set by the caller */
	int diag;       /* NETLINK_SOCK_DIAG inside, for the publisher */
	struct auto_publish *publisher;
	struct forward *forwards;
	struct call *dialling;
	size_t n_calls[2]; /* dialling or connected: published, into the host */
	struct {
		int fds[PORTS_POOL];
		size_t n;
	} pool[2];    /* unbound sockets inside: IPv4, IPv6 */
	bool no_ipv6; /* inside */
	int spare;    /* given up to take in, and turn away, one connection too many */
	bool paused;  /* no descriptor for another connection; tried again by the ticker */
	bool warned;  /* of connections that were turned away */
	struct ticker ticker;
	struct relay relay;
};

#define PORTS_NONE                                   \
	(struct ports)                               \
	{                                            \
		.netns = -1, .diag = -1, .spare = -1 \
	}

int ports_bind(struct ports *ports, const struct port_spec *specs, size_t n, struct err *err);
/* netns stays the caller's. */
int ports_enter(struct ports *ports, const struct port_spec *specs, size_t n, int netns,
		struct err *err);
int ports_start(struct ports *ports, struct loop *loop, const struct ports_hooks *hooks,
		struct err *err);
/* The sandbox is dead. Safe for PORTS_NONE. */
void ports_stop(struct ports *ports);

/* For calls: ticks while there is something to wait for. */
void ports_watch_time(struct ports *ports);
/* And has a descriptor again, if there is one, to turn the next one away with. */
void ports_take_spare(struct ports *ports);
/* For the publisher: takes a port of the host's and serves it; 0 lets the kernel choose. The forward
 * says which it is. -errno without words. */
int ports_publish(struct ports *ports, uint16_t port, uint16_t inside, struct forward **ret);
/* Closes it; connections that it has accepted go on. */
void ports_withdraw(struct forward *forward);
/* A port inside that is ours, or published already. */
bool ports_has_inside(const struct ports *ports, uint16_t port);
