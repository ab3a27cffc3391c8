/* SPDX-License-Identifier: MIT */
/* A connection that was allowed. */
#include "net/flow.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net/owner.h"
#include "os/timer.h"

enum { HTTPS_PORT = 443 };

void flow_join(struct relay *relay, struct dial *dial, int inside)
{
	struct flow *flow = calloc(1, sizeof(*flow));
	bool tls = dial->name[0] && dial->packet.dport == HTTPS_PORT;
	int outside = take_fd(&dial->outside.fd);
	struct err ignored; /* without memory the connection is reset, which is what it says */

	if (!flow) {
		close(inside);
		close(outside);
		return;
	}
	memcpy(flow->name, dial->name, sizeof(flow->name));
	flow->port = dial->packet.dport;
	flow->started = os_now();
	flow->by_proxy = dial->via_proxy;
	flow->peer = dial->addresses[dial->at - 1];
	flow->policy = policy_ref(dial->policy);
	flow->rule = dial->rule;
	flow->owner = dial->owner;
	dial->owner = NULL;
	(void)relay_add(relay, inside, outside, tls ? flow->name : NULL, flow, &ignored);
}

static struct verdict judge(const struct flow *flow, const struct policy *policy)
{
	if (!flow->name[0])
		return policy_address(policy, &flow->peer, flow->port);
	if (flow->by_proxy)
		return policy_connect(policy, flow->name, flow->port);
	return policy_dial(policy, flow->name, &flow->peer, flow->port);
}

bool flow_is_cut(struct flow *flow, const struct policy *policy)
{
	struct verdict verdict = judge(flow, policy);

	if (!verdict.allow)
		flow->cut = verdict; /* its rule lives until the event that follows now */
	return !verdict.allow;
}

void flow_end(struct flow *flow, const struct relay_stats *stats, net_event_fn *on_event, void *ctx)
{
	static const enum net_reason reasons[] = {
		[RELAY_CLOSED] = NET_ALLOWED,
		[RELAY_RESET] = NET_ALLOWED,
		[RELAY_REFUSED] = NET_SNI,
		[RELAY_STALLED] = NET_BAD_TLS,
	};
	enum net_reason reason = flow->cut.reason ? flow->cut.reason : reasons[stats->end];
	const struct rule *rule = reason == NET_ALLOWED ? flow->rule : flow->cut.rule;
	char address[ADDRESS_TEXT];
	const struct net_event event = {
		.type = reason == NET_ALLOWED ? NET_EVENT_ENDED : NET_EVENT_DENIED,
		.name = flow->name[0] ? flow->name : NULL,
		.address = flow->by_proxy ? NULL : address_print(&flow->peer, address),
		.port = flow->port,
		.reason = reason,
		.rule = rule ? rule->text : NULL,
		.sent = stats->sent,
		.received = stats->received,
		.seconds = os_now() - flow->started,
		.owner = flow->owner,
	};

	on_event(ctx, &event);
	policy_unref(flow->policy);
	owner_unref(flow->owner);
	free(flow);
}
