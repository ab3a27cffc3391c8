/* SPDX-License-Identifier: MIT */
/*
 * The filtered network: only the hosts that the policy names can be reached, by any program, with
 * no proxy variable and no certificate. A guest of the loop.
 *
 *	inside                        supervisor
 *	------                        ----------
 *	name?           -- udp 53 --> dns: allowed names get a synthetic address, others do not exist
 *	connect(addr)   -- queue ---> dial: address -> name -> policy -> resolve -> vet -> connect
 *	connected       <- verdict -- the dial has succeeded; its errno otherwise
 *	bytes           <- accept --> relay
 *
 * Nothing is configured until the first network socket is asked for.
 */
#pragma once

#include "net/dial.h"
#include "net/dnsserve.h"
#include "net/explain.h"
#include "net/nft.h"
#include "net/own.h"
#include "net/owner.h"
#include "net/relay.h"

/* Something that was refused or has ended, or a rule that was added (and is all that is set then).
 * Strings live during the call. */
struct net_event {
	enum { NET_EVENT_DENIED, NET_EVENT_ENDED, NET_EVENT_ALLOW_RULE, NET_EVENT_DENY_RULE } type;
	const char *name;    /* NULL: by address */
	const char *address; /* where the name led to; NULL: nowhere, or not known */
	uint16_t port;       /* 0: a question for a name */
	enum net_reason reason;
	const char *rule; /* that decided; NULL: none */
	uint64_t sent, received;
	double seconds;
	const struct owner *owner; /* who it was, inside; NULL: not known */
};

typedef void net_event_fn(void *ctx, const struct net_event *event);

struct filter {
	struct loop *loop;
	int netns;
	int spare; /* a descriptor for when there is none left */
	struct own_addresses own;
	bool up;
	struct policy *policy;
	struct names *names;
	struct ns_sockets sockets;
	enum net_tier best, tier; /* the best that may be used, and what it is */
	struct loop_source queue, log, tcp;
	struct port_listener *ports; /* TIER_PORTS */
	size_t n_ports;
	struct dns_server dns;
	struct dial_list dials;
	struct proxy proxy; /* port 0: none */
	bool explain;       /* who is refused on ports 80 and 443 is told why */
	bool serves_host;   /* a port of the host's is at the loopback inside, by its names too */
	struct explainer explainer;
	struct relay relay;
	struct owners owners; /* the supervisor notes in it who asks for a socket */
	net_event_fn *on_event;
	void *ctx;
};

/* Takes netns and the reference to the policy over. Configures nothing yet. */
void filter_start(struct filter *filter, struct loop *loop, int netns, struct policy *policy,
		  net_event_fn *on_event, void *ctx);
/* Configures the namespace; does nothing when it already is. */
int filter_up(struct filter *filter, struct err *err);
/* Adds rules while it runs, all or none: what they refuse is refused from now on and, where it was
 * open, reset. A rule for the same host and port as one that is there, and against it, replaces it. */
int filter_add_rules(struct filter *filter, const struct strv *allow, const struct strv *deny,
		     struct err *err);
/* Puts a whole policy in the place of the old one, or changes nothing. What it refuses and was open is
 * reset; in between nothing is allowed that either refuses. Takes the reference over on success. */
int filter_set_rules(struct filter *filter, struct policy *policy, struct err *err);
/* A port inside that is the filter's own. */
bool filter_listens_on(const struct filter *filter, uint16_t port);
/* Safe for one that was never started, if zeroed with netns -1. */
void filter_stop(struct filter *filter);
