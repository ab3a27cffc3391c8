/* SPDX-License-Identifier: MIT */
/* Between filter.c and filter_rules.c: putting the policy in place, and another in its place. */
#pragma once

#include "net/filter.h"

/* A connection that is open: what the log wants to know when it ends, and what rules are asked. */
struct flow {
	char name[NAME_SIZE];
	uint16_t port;
	double started;
	struct policy *policy; /* keeps the rule that allowed it */
	const struct rule *rule;
	struct owner *owner; /* NULL: not known */
	struct address peer; /* that was dialled */
	bool by_proxy;       /* and is the proxy */
	struct verdict cut;  /* why new rules end it; NET_ALLOWED: they do not */
};

/* The rules of old with these added, which have the last word and must have an effect: a new policy, and
 * the added ones by themselves. */
int rules_add(const struct policy *old, const struct strv *allow, const struct strv *deny,
	      struct policy **ret_next, struct policy **ret_added, struct err *err);
/* Tells of each of them. */
void rules_tell(const struct policy *added, net_event_fn *on_event, void *ctx);

/* Kernel rules and listeners, as the policy wants them. Sets filter->tier. */
int filter_enforce(struct filter *filter, struct err *err);
void filter_unlisten(struct filter *filter);

/* Takes what waits at a listener of the filter's. */
int filter_accept(struct filter *filter, int listener);
