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
#include "net/filter_rules.h"
#include "net/front.h"
#include "session/control.h"
#include "session/request.h"

struct guests {
	struct sandbox *sandbox;
	struct loop *loop;
	struct front front;
	struct key_agent keys;
	struct ticker door_due; /* a command that ends at once needs no door */
	struct control_server door;
};

static void on_net_event(void *ctx, const struct net_event *event)
{
	const struct engine_hooks *hooks = ((struct guests *)ctx)->sandbox->hooks;

	if (hooks && hooks->on_network)
		hooks->on_network(hooks->ctx, event);
}

static int start_front(struct guests *g, struct err *err)
{
	const struct plan *plan = g->sandbox->plan;
	const struct engine_rules rules = { .allow = plan->allow,
					    .deny = plan->deny,
					    .denied_resolved = plan->denied_resolved };
	struct policy *policy;
	int r;

	if (g->sandbox->outlet < 0)
		return 0;
	front_take(&g->front, take_fd(&g->sandbox->outlet));
	if (plan->proxy && proxy_parse(plan->proxy, plan->no_proxy, &g->front.proxy, err) < 0)
		return -err->code;
	r = rules_make_policy(&rules, &policy, err);
	return r < 0 ? r : front_serve(&g->front, g->loop, policy, on_net_event, g, err);
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

static int add_rules(struct guests *g, const struct request *request, struct err *err)
{
	struct policy *added, *next;
	int r = rules_add(g->front.policy, &request->allow, &request->deny, &next, &added, err);

	if (r < 0)
		return r;
	front_set_rules(&g->front, next);
	rules_tell(added, on_net_event, g);
	policy_unref(added);
	return 0;
}

/* The user changes the rules while it runs. */
static void on_request(void *ctx, const char *text, size_t len, struct str *reply)
{
	struct arena arena = { 0 };
	struct request request;
	struct err err;
	int r = request_parse(&arena, text, len, &request, &err);

	if (r == 0)
		r = add_rules(ctx, &request, &err);
	reply_add(reply, r < 0 ? &err : NULL);
	arena_release(&arena);
}

static void on_door_due(struct ticker *ticker)
{
	struct guests *g = container_of(ticker, struct guests, door_due);
	const struct engine_hooks *hooks = g->sandbox->hooks;
	struct err err;
	int fd = hooks->take_control(hooks->ctx);

	ticker_stop(ticker);
	if (fd >= 0 && control_server_start(&g->door, g->loop, fd, on_request, g, &err) < 0)
		sandbox_warn(g->sandbox, &err);
}

static void started(void *guests)
{
	struct guests *g = guests;
	const struct engine_hooks *hooks = g->sandbox->hooks;
	struct err err;

	if (!g->front.loop || !hooks || !hooks->take_control)
		return;
	if (ticker_start(&g->door_due, g->loop, on_door_due, &err) < 0)
		sandbox_warn(g->sandbox, &err);
	else
		ticker_run(&g->door_due, true);
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

	ticker_stop(&g->door_due);
	control_server_stop(&g->door);
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
