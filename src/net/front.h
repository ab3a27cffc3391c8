/* SPDX-License-Identifier: MIT */
/*
 * The filtered network where the kernel has no network namespaces: a proxy on the loopback, HTTP and
 * SOCKS 5 on one port, that is all of the network which the command may reach. A guest of the loop.
 *
 *	program       -- CONNECT host:443, with the token -->  talk: who is meant
 *	                                                        policy -> resolve -> vet -> connect
 *	              <-- 200, or 403 with the reason --
 *	bytes         <-------------- relay -------------->
 *
 * Rules, dialling and relaying are those of the Linux filter (net/filter.h). Programs that take no proxy
 * reach nothing.
 */
#pragma once

#include "net/dial.h"
#include "net/filter.h"
#include "net/own.h"
#include "net/relay.h"
#include "net/talk.h"
#include "os/listener.h"

struct front_conn;

struct front {
	struct loop *loop; /* NULL: not started */
	struct listener listener;
	uint16_t port;
	char token[TALK_TOKEN_MAX + 1];
	struct policy *policy;
	struct own_addresses own;
	struct dial_list dials;
	struct proxy proxy; /* port 0: none */
	struct relay relay;
	struct front_conn *conns; /* that are still talking */
	size_t n_conns;
	uint32_t last_id;
	struct ticker ticker;
	net_event_fn *on_event;
	void *ctx;
};

/* Listens; the port and the token are known from then on. Nobody is served before front_serve(). */
int front_listen(struct front *front, struct err *err);
/* Instead of it: at a listening socket that nobody but the sandbox reaches, so that there is no token. A
 * virtual machine has it relayed. It is taken over. */
void front_take(struct front *front, int listener);
/* Takes the reference to the policy over. */
int front_serve(struct front *front, struct loop *loop, struct policy *policy,
		net_event_fn *on_event, void *ctx, struct err *err);
/* Other rules from now on; what they refuse and is open is reset. Takes the reference over. */
void front_set_rules(struct front *front, struct policy *policy);
/* Safe for one that only listens. */
void front_stop(struct front *front);
