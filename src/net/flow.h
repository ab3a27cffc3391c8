/* SPDX-License-Identifier: MIT */
/* A connection that was allowed, from the join of its two sides to the event of its end. The relay has the
 * bytes; this is what it is called, and by which rule it stands. */
#pragma once

#include "net/dial.h"
#include "net/filter.h"
#include "net/relay.h"

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

/* Joins 'inside' with what was dialled; the descriptors are taken in any case. */
void flow_join(struct relay *relay, struct dial *dial, int inside);
/* Whether these rules refuse it now; remembered for the event. */
bool flow_is_cut(struct flow *flow, const struct policy *policy);
/* The relay is done with it: tells, and frees. */
void flow_end(struct flow *flow, const struct relay_stats *stats, net_event_fn *on_event,
	      void *ctx);
