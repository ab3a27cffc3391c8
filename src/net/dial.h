/* SPDX-License-Identifier: MIT */
/*
 * Dialling out for the sandbox: a name is resolved by the host's resolver, each address is judged
 * by the policy, and only what was judged is dialled, in order, within 30 seconds.
 */
#pragma once

#include "net/owner.h"
#include "net/policy.h"
#include "net/proxy.h"
#include "net/queue.h"
#include "net/resolver.h"
#include "os/loop.h"

struct dial_list;

struct dial {
	struct dial_list *list;
	struct dial *next, **link;
	struct queue_packet packet; /* the connection as the sandbox sees it */
	int inside;                 /* its socket, where it was accepted first; else -1 */
	char name[NAME_SIZE];       /* "": by address */
	struct owner *owner;        /* who connects; NULL: not known */
	struct policy *policy;      /* that allowed it; keeps the rule */
	const struct rule *rule;
	struct address addresses[RESOLVER_ADDRESSES];
	size_t n_addresses, at;
	uint16_t port;  /* to dial: the proxy's, or the packet's own */
	bool via_proxy; /* the addresses are the proxy's */
	bool asked;     /* the resolver has been, for this one or for another one with its name, */
	bool asks;      /* for this one */
	enum net_reason refused; /* nothing is dialled: why, for who connects; else NET_ALLOWED */
	enum { DIAL_RESOLVING, DIAL_CONNECTING, DIAL_ASKING, DIAL_CONNECTED } state;
	struct loop_source outside;
	int64_t deadline; /* os_seconds() */
	int last_error;
};

struct dial_hooks {
	/* The outside is connected: dial->outside.fd is the hook's to take. */
	void (*connected)(void *ctx, struct dial *dial);
	/* reason is NET_ALLOWED for a failure of the network; addr may be NULL. The dial is freed. */
	void (*failed)(void *ctx, struct dial *dial, int code, enum net_reason reason,
		       const struct address *addr);
	void *ctx;
};

/* What a name was resolved to lately. */
struct dial_cached {
	struct resolver_answer answer;
	int64_t expires; /* os_seconds() */
};

struct dial_list {
	struct loop *loop;
	struct resolver resolver;
	struct dial_hooks hooks;
	struct loop_source timer;
	bool timed; /* it runs */
	struct dial *head;
	size_t n;
	struct dial_cached *cache;
	const struct proxy *proxy; /* NULL: none */
};

int dial_list_start(struct dial_list *list, struct loop *loop, const struct dial_hooks *hooks,
		    struct err *err);
void dial_list_stop(struct dial_list *list);

/* name NULL: the packet's own destination. The hooks say how it went, perhaps at once; 'inside' is
 * taken over. False without memory: nothing was taken. The reference to the owner is taken always. */
bool dial_begin(struct dial_list *list, const struct queue_packet *packet, int inside,
		const char *name, struct policy *policy, const struct rule *rule,
		struct owner *owner);
/* Keeps a place for a connection that is accepted to be told why it is refused. */
bool dial_refuse(struct dial_list *list, const struct queue_packet *packet, const char *name,
		 enum net_reason reason);
/* The rules have changed: what they refuse now is refused, with its failed hook (for a connection
 * that the sandbox has been promised only to tell of it). */
void dial_list_judge(struct dial_list *list, struct policy *policy);
struct dial *dial_find(const struct dial_list *list, const struct queue_packet *packet);
void dial_free(struct dial *dial);
