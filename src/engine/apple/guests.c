/* SPDX-License-Identifier: MIT */
/*
 * What the supervisor of a virtual machine keeps while it runs: the proxy that is its filtered network (net/front.h),
 * the ssh-agent of a deploy key, and the door by which the user changes the rules. Nothing of it needs Linux.
 */
#include <errno.h>
#include <stdlib.h>

#include "engine/apple/machine.h"
#include "engine/keys.h"
#include "engine/rules.h"
#include "engine/rules_door.h"
#include "net/filter_rules.h"
#include "net/front.h"

struct guests {
	struct sandbox *sandbox;
	struct loop *loop;
	struct front front;
	struct key_agent keys;
	struct rules_door door;
};

static int start_front(struct guests *g, struct err *err)
{
	const struct plan *plan = g->sandbox->plan;
	const struct engine_rules rules = rules_of_plan(plan);
	struct policy *policy;
	int r;

	if (g->sandbox->outlet < 0)
		return 0;
	front_take(&g->front, take_fd(&g->sandbox->outlet));
	if (plan->proxy && proxy_parse(plan->proxy, plan->no_proxy, &g->front.proxy, err) < 0)
		return -err->code;
	r = rules_make_policy(&rules, &policy, err);
	return r < 0 ? r
		     : front_serve(&g->front, g->loop, policy, sandbox_tell_network, g->sandbox,
				   err);
}

static int start(struct sandbox *sandbox, struct loop *loop, void **ret, struct err *err)
{
	struct guests *g = calloc(1, sizeof(*g));
	int r;

	if (!g)
		return err_errno(err, ENOMEM, "the supervisor");
	*g = (struct guests){ .sandbox = sandbox, .loop = loop };
	front_take(&g->front, -1);
	*ret = g;
	r = start_front(g, err);
	return r == 0 ? keys_serve(&g->keys, loop, sandbox, err) : r;
}

static int add_rules(void *ctx, const struct request *request, struct err *err)
{
	struct guests *g = ctx;
	struct policy *added, *next;
	int r = rules_add(g->front.policy, &request->allow, &request->deny, &next, &added, err);

	if (r < 0)
		return r;
	front_set_rules(&g->front, next);
	rules_tell(added, sandbox_tell_network, g->sandbox);
	policy_unref(added);
	return 0;
}

static void started(void *guests)
{
	struct guests *g = guests;

	if (g->front.loop)
		rules_door_open(&g->door, g->loop, g->sandbox, add_rules, g);
}

static int set_rules(void *guests, const struct engine_rules *rules, struct err *err)
{
	struct guests *g = guests;
	struct policy *policy = NULL;
	int r = g->front.loop ? rules_make_policy(rules, &policy, err)
			      : err_set(err, EOPNOTSUPP, "the network has no rules");

	if (r == 0)
		front_set_rules(&g->front, policy);
	return r;
}

static void stop(void *guests)
{
	struct guests *g = guests;

	rules_door_close(&g->door);
	key_agent_stop(&g->keys);
	front_stop(&g->front);
	free(g);
}

const struct sandbox_guests machine_guests = {
	.start = start,
	.started = started,
	.set_rules = set_rules,
	.stop = stop,
};
