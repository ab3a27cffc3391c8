/* SPDX-License-Identifier: MIT */
/* The supervisor's network: which guests of the loop a plan needs, and what passes between them. */
#include "engine/network.h"

#include <errno.h>
#include <sys/socket.h>

#include "engine/rules.h"
#include "os/linux/kernel.h"

/* Others may want to know of sockets that need no network. */
static bool needs_network(const struct seccomp_notif *call)
{
	return (int)call->data.args[0] != AF_UNIX;
}

/* The lazy network. The base filter has allowed each of its calls: there is nothing to decide here
 * but when it goes on. */
static int on_socket(void *ctx, const struct seccomp_notif *call)
{
	struct network *n = ctx;
	static const int answers[] = {
		[LAZY_GO_ON] = NOTIFY_CONTINUE,
		[LAZY_WAIT] = NOTIFY_LATER,
		[LAZY_REFUSE] = -ENETDOWN,
	};

	return needs_network(call) ? answers[lazy_net_ask(&n->lazy, call->id)] : NOTIFY_CONTINUE;
}

/* What network_raise() asks by, instead of a call. */
#define RAISED UINT64_MAX

static void on_net_answer(void *ctx, uint64_t id, bool up)
{
	struct network *n = ctx;

	if (id == RAISED) {
		n->on_raised(n->raised_ctx);
		return;
	}
	notify_answer(&n->dispatch->notify, id, up ? NOTIFY_CONTINUE : -ENETDOWN);
}

static void on_net_failed(void *ctx, const struct err *err)
{
	struct network *n = ctx;

	sandbox_warn(n->sandbox, err);
}

/* Where it fails that is said once, and it stays closed. */
static bool bring_filter_up(struct network *n)
{
	struct err err;

	if (!n->filter_failed && filter_up(&n->filter, &err) < 0) {
		n->filter_failed = true;
		on_net_failed(n, &err);
	}
	return !n->filter_failed;
}

/* The filtered network is configured within the first call, in less than a millisecond. */
static int on_filtered_socket(void *ctx, const struct seccomp_notif *call)
{
	struct network *n = ctx;

	if (!needs_network(call))
		return NOTIFY_CONTINUE;
	if (!n->filter_failed)
		owners_note(&n->filter.owners, (pid_t)call->pid);
	return bring_filter_up(n) ? NOTIFY_CONTINUE : -ENETDOWN;
}

void network_raise(struct network *n, void (*fn)(void *ctx), void *ctx)
{
	n->on_raised = fn;
	n->raised_ctx = ctx;
	if (n->filter.loop)
		(void)bring_filter_up(n);
	else if (n->lazy.loop && lazy_net_ask(&n->lazy, RAISED) == LAZY_WAIT)
		return;
	fn(ctx);
}

static void on_net_event(void *ctx, const struct net_event *event)
{
	const struct network *n = ctx;

	sandbox_tell_network(n->sandbox, event);
}

int network_set_rules(struct network *n, const struct engine_rules *rules, struct err *err)
{
	struct policy *policy = NULL;
	int r = n->filter.loop ? rules_make_policy(rules, &policy, err)
			       : err_set(err, EOPNOTSUPP, "the network has no rules");

	if (r < 0)
		return r;
	r = filter_set_rules(&n->filter, policy, err);
	if (r < 0)
		policy_unref(policy);
	return r;
}

static int start_filter(struct network *n, struct err *err)
{
	const struct plan *plan = n->sandbox->plan;
	const struct engine_rules rules = rules_of_plan(plan);
	struct policy *policy;
	int r = rules_make_policy(&rules, &policy, err);

	if (r < 0)
		return r;
	if (plan_root_of_host(plan))
		policy->guard.kind = GUARD_SRT;
	if (plan->inside) /* the outer sandbox's network may be filtered, and names lead to its own */
		policy->guard.veiled = names_is_synthetic;
	filter_start(&n->filter, n->loop, take_fd(&n->sandbox->netns), policy, on_net_event, n);
	n->filter.best = (enum net_tier)(plan->filter_tier - 1);
	n->filter.explain = plan->explain;
	for (size_t i = 0; i < plan->n_ports; i++)
		n->filter.serves_host = n->filter.serves_host || plan->ports[i].into;
	return plan->proxy ? proxy_parse(plan->proxy, plan->no_proxy, &n->filter.proxy, err) : 0;
}

static int add_rules(void *ctx, const struct request *request, struct err *err)
{
	struct network *n = ctx;

	return filter_add_rules(&n->filter, &request->allow, &request->deny, err);
}

void network_open_door(struct network *n)
{
	if (n->filter.loop)
		rules_door_open(&n->door, n->loop, n->sandbox, add_rules, n);
}

static void on_port_note(void *ctx, const char *text)
{
	const struct engine_hooks *hooks = ((struct network *)ctx)->sandbox->hooks;

	if (hooks && hooks->on_note)
		hooks->on_note(hooks->ctx, text);
}

/* What listens inside and is ours: the filter, and the relays, by which everybody on the host could use a credential. */
static bool is_own_port(void *ctx, uint16_t port)
{
	const struct network *n = ctx;
	const struct plan *plan = n->sandbox->plan;

	for (size_t i = 0; i < plan->n_credentials; i++)
		if (plan->credentials[i].port == port)
			return true;
	return plan->net == NET_FILTERED && filter_listens_on(&n->filter, port);
}

static int start_ports(struct network *n, struct err *err)
{
	const struct ports_hooks hooks = { on_port_note, on_net_failed, on_net_event, is_own_port,
					   n };

	if (!plan_has_ports(n->sandbox->plan))
		return 0;
	return ports_start(&n->sandbox->ports, n->loop, &hooks, err);
}

/* One that was attached before the start: nothing asks for it again. */
static int on_uplink_end(struct loop_source *source, _unused_ uint32_t events,
			 _unused_ struct err *err)
{
	struct network *n = container_of(source, struct network, uplink_end);
	struct err ended;

	loop_remove(n->loop, source);
	uplink_explain_end(&n->sandbox->uplink, &ended);
	err_hint(&ended, "it is there again with the next start");
	sandbox_warn(n->sandbox, &ended);
	return 0;
}

static int watch_uplink(struct network *n, struct err *err)
{
	if (n->sandbox->uplink.pid <= 0)
		return 0;
	n->uplink_end = (struct loop_source){ .fd = n->sandbox->uplink.pidfd,
					      .on_event = on_uplink_end };
	return loop_add(n->loop, &n->uplink_end, LOOP_IN, err);
}

static int attach(struct network *n, struct err *err)
{
	const struct lazy_net_hooks hooks = { on_net_answer, on_net_failed, n };
	struct sandbox *sandbox = n->sandbox;
	bool filtered = sandbox->plan->net == NET_FILTERED;
	int r = 0;

	if (!plan_is_lazy(sandbox->plan))
		return 0;
	if (filtered)
		r = start_filter(n, err);
	else
		lazy_net_start(&n->lazy, n->loop, sandbox->plan->uplinks, sandbox->plan->n_uplinks,
			       take_fd(&sandbox->netns), &hooks);
	if (r == 0 && filtered && sandbox->plan->eager_net)
		return filter_up(&n->filter, err);
	if (r == 0)
		dispatch_add(n->dispatch, &seccomp_notify_net,
			     filtered ? on_filtered_socket : on_socket, n);
	return r;
}

int network_start(struct network *n, struct loop *loop, struct sandbox *sandbox,
		  struct dispatch *dispatch, struct err *err)
{
	int r;

	*n = (struct network){
		.sandbox = sandbox,
		.loop = loop,
		.dispatch = dispatch,
		.lazy = { .netns = -1, .ready.fd = -1, .dead.fd = -1 },
		.filter.netns = -1,
		.uplink_end.fd = -1,
	};
	r = attach(n, err);
	if (r == 0)
		r = watch_uplink(n, err);
	return r == 0 ? start_ports(n, err) : r;
}

void network_stop(struct network *n)
{
	if (!n->loop)
		return;
	rules_door_close(&n->door);
	ports_stop(&n->sandbox->ports);
	lazy_net_stop(&n->lazy);
	loop_remove(n->loop, &n->uplink_end);
	filter_stop(&n->filter);
	n->loop = NULL;
}
