/* SPDX-License-Identifier: MIT */
/*
 * The filter's rules: what the kernel has to know of them, and their change while the sandbox runs.
 *
 * A change is a whole new policy. It is made and looked at first; a rule that is wrong, or a kernel
 * that refuses, leaves the old one in force. While kernel rules and listeners are replaced both
 * policies must allow what is asked; then the new one stands alone, and every dial and every open
 * connection is judged again. Nothing is asked in between: the loop does one thing at a time.
 *
 * What an attacker controls: when connections come, and with TIER_PORTS which ports inside are taken
 * before we can listen there. A change that fails for that is not made.
 */
#include "net/filter_rules.h"
#include "net/flow.h"

#include <errno.h>
#include <string.h>

#define PORTS_MAX 64

struct port_listener {
	struct filter *filter;
	uint16_t port; /* 0: free */
	struct loop_source source;
};

/* --- TIER_PORTS --- */

/* Without a packet filter only what we listen on can be caught. A rule for every port means these. */
static const uint16_t common_ports[] = { 22, 80, 443, 8080, 8443, 9418 };

static int on_port(struct loop_source *source, uint32_t events, struct err *err)
{
	(void)events;
	(void)err;
	return filter_accept(container_of(source, struct port_listener, source)->filter,
			     source->fd);
}

static struct port_listener *listener_for(const struct filter *f, uint16_t port)
{
	for (size_t i = 0; i < f->n_ports; i++)
		if (f->ports[i].port == port)
			return &f->ports[i];
	return NULL;
}

bool filter_listens_on(const struct filter *f, uint16_t port)
{
	return listener_for(f, port) || port == NSCONF_RELAY_PORT || port == NSCONF_DNS_PORT;
}

static int listen_on(struct filter *f, uint16_t port, struct err *err)
{
	struct port_listener *listener = listener_for(f, 0);
	int fd, r;

	if (listener_for(f, port))
		return 0;
	if (!listener && f->n_ports == PORTS_MAX)
		return err_set(err, E2BIG,
			       "the rules name more than %d ports, and this kernel has no "
			       "nf_tables",
			       PORTS_MAX);
	r = nsconf_listen(f->netns, f->sockets.family, port, &fd, err);
	if (r < 0)
		return r;
	relay_prepare(fd);
	if (!listener)
		listener = &f->ports[f->n_ports++];
	*listener = (struct port_listener){ .filter = f,
					    .port = port,
					    .source = { .fd = fd, .on_event = on_port } };
	return loop_add(f->loop, &listener->source, LOOP_IN, err);
}

static void unlisten(struct filter *f, struct port_listener *listener)
{
	if (!listener->port)
		return;
	loop_remove(f->loop, &listener->source);
	close(listener->source.fd);
	*listener = (struct port_listener){ .source.fd = -1 };
}

void filter_unlisten(struct filter *f)
{
	for (size_t i = 0; i < f->n_ports; i++)
		unlisten(f, &f->ports[i]);
	free(f->ports);
	f->ports = NULL;
	f->n_ports = 0;
}

static int listen_on_ports(struct filter *f, struct err *err)
{
	int r = 0;

	if (!f->ports)
		f->ports = calloc(PORTS_MAX, sizeof(*f->ports));
	if (!f->ports)
		return err_errno(err, ENOMEM, "the filtered network");
	for (size_t i = 0; r == 0 && i < f->policy->n_rules; i++) {
		const struct rule *rule = f->policy->rules[i];

		if (rule->flags & RULE_DENY)
			continue;
		if (rule->port)
			r = listen_on(f, rule->port, err);
		for (size_t p = 0; r == 0 && !rule->port && p < ARRAY_LEN(common_ports); p++)
			r = listen_on(f, common_ports[p], err);
	}
	return r;
}

static bool wants_port(const struct policy *policy, uint16_t port)
{
	bool common = false;

	for (size_t i = 0; i < ARRAY_LEN(common_ports); i++)
		common = common || common_ports[i] == port;
	for (size_t i = 0; i < policy->n_rules; i++) {
		const struct rule *rule = policy->rules[i];

		if (!(rule->flags & RULE_DENY) && (rule->port ? rule->port == port : common))
			return true;
	}
	return false;
}

/* Programs inside may have the ports that no rule needs any more. */
static void unlisten_unwanted(struct filter *f)
{
	for (size_t i = 0; i < f->n_ports; i++)
		if (!wants_port(f->policy, f->ports[i].port))
			unlisten(f, &f->ports[i]);
}

/* --- TIER_QUEUE and TIER_STATIC --- */

/* The addresses that rules name as such: in TIER_STATIC the kernel must know them. */
static size_t direct_ranges(const struct policy *policy, struct nft_range ret[NFT_RANGES_MAX + 1])
{
	size_t n = 0;

	for (size_t i = 0; i < policy->n_rules && n <= NFT_RANGES_MAX; i++) {
		const struct rule *rule = policy->rules[i];

		if (rule->kind != RULE_RANGE || (rule->flags & RULE_DENY))
			continue;
		ret[n] = (struct nft_range){ .bits = rule->range.bits,
					     .first = rule->port,
					     .last = rule->port };
		memcpy(ret[n++].addr.s6_addr, rule->range.base.b, 16);
	}
	return n;
}

static int apply_rules(struct filter *f, bool replace, struct err *err)
{
	struct nft_range direct[NFT_RANGES_MAX + 1];
	const struct nft_options options = {
		.best = replace ? f->tier : f->best,
		.replace = replace,
		.direct = direct,
		.n_direct = direct_ranges(f->policy, direct),
	};
	enum net_tier tier;
	int r = nft_apply(&f->sockets, &options, &tier, err);

	if (r == 0 && replace && tier != f->tier) /* all or nothing: the old rules stand */
		return err_wrap(err, "changing the kernel's rules");
	f->tier = r == 0 ? tier : f->tier;
	return r;
}

/* Replacing kernel rules costs ten times the rest of a change. */
static bool same_direct(const struct policy *a, const struct policy *b)
{
	struct nft_range x[NFT_RANGES_MAX + 1], y[NFT_RANGES_MAX + 1];
	size_t n = direct_ranges(a, x);

	if (n != direct_ranges(b, y))
		return false;
	for (size_t i = 0; i < n; i++)
		if (memcmp(&x[i].addr, &y[i].addr, sizeof(x[i].addr)) != 0 ||
		    x[i].bits != y[i].bits || x[i].first != y[i].first)
			return false;
	return true;
}

int filter_enforce(struct filter *f, struct err *err)
{
	int r = apply_rules(f, false, err);

	return r == 0 && f->tier == TIER_PORTS ? listen_on_ports(f, err) : r;
}

static int enforce_again(struct filter *f, const struct policy *old, struct err *err)
{
	if (f->tier == TIER_PORTS)
		return listen_on_ports(f, err);
	if (f->tier == TIER_STATIC && !same_direct(f->policy, old))
		return apply_rules(f, true, err);
	return 0; /* the queue asks us about each connection */
}

/* --- the change --- */

static void set_policy(struct filter *f, struct policy *policy)
{
	f->policy = policy;
	f->dns.dns.policy = policy;
}

/* An open connection that the rules refuse now. */
static bool is_doomed(void *ctx, void *tag)
{
	return flow_is_cut(tag, ((struct filter *)ctx)->policy);
}

/* Takes the reference over when it succeeds. */
static int replace_policy(struct filter *f, struct policy *next, struct err *err)
{
	struct policy *old = f->policy;
	int r = 0;

	policy_set_also(next, old);
	set_policy(f, next);
	if (f->up)
		r = enforce_again(f, old, err);
	policy_set_also(next, NULL);
	if (r < 0)
		set_policy(f, old);
	unlisten_unwanted(f);
	if (r < 0)
		return r;
	if (f->up) {
		dial_list_judge(&f->dials, next);
		relay_reset_if(&f->relay, is_doomed, f);
	}
	policy_unref(old);
	return 0;
}

/* An allow rule without effect would be taken for one with. */
static int check_opens(const struct policy *policy, const struct rule *rule, struct err *err)
{
	struct verdict v = { .reason = NET_ALLOWED };

	if (rule->kind == RULE_NAME)
		v = rule->port ? policy_connect(policy, rule->host, rule->port)
			       : policy_name(policy, rule->host);
	else if (rule->kind == RULE_RANGE && rule->range.bits == 128)
		v = policy_address(policy, &rule->range.base, rule->port);
	if (v.reason != NET_DENIED_NAME && v.reason != NET_DENIED_ADDRESS)
		return 0;
	err_usage(err, "'%s' stays closed: a deny rule beats every allow rule, and there is '%s'",
		  rule->text, v.rule->text);
	return v.rule->kind == RULE_ANY
		       ? -err->code
		       : err_hint(err, "'wrapix allow' with '%s' takes that rule back",
				  v.rule->text);
}

static int check_allowed(const struct policy *policy, const struct policy *added, struct err *err)
{
	int r = 0;

	known(added);
	for (size_t i = 0; r == 0 && i < added->n_rules; i++)
		if (!(added->rules[i]->flags & RULE_DENY))
			r = check_opens(policy, added->rules[i], err);
	return r;
}

static int add_all(struct policy *policy, const struct strv *texts, unsigned flags, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < texts->len; i++)
		r = policy_add(policy, texts->v[i], flags, err);
	return r;
}

void rules_tell(const struct policy *added, net_event_fn *on_event, void *ctx)
{
	for (size_t i = 0; i < added->n_rules; i++) {
		bool denies = added->rules[i]->flags & RULE_DENY;
		const struct net_event event = {
			.type = denies ? NET_EVENT_DENY_RULE : NET_EVENT_ALLOW_RULE,
			.rule = added->rules[i]->text,
		};

		on_event(ctx, &event);
	}
}

int rules_add(const struct policy *old, const struct strv *allow, const struct strv *deny,
	      struct policy **ret_next, struct policy **ret_added, struct err *err)
{
	struct policy *added = policy_new(), *next = NULL;
	int r = added ? 0 : err_errno(err, ENOMEM, "the network's rules");

	if (r == 0)
		r = add_all(added, allow, 0, err);
	if (r == 0)
		r = add_all(added, deny, RULE_DENY, err);
	if (r == 0)
		next = policy_merge(old, added, err);
	if (r == 0)
		r = next ? check_allowed(next, added, err) : -err->code;
	if (r < 0) {
		policy_unref(next);
		policy_unref(added);
		return r;
	}
	*ret_next = next;
	*ret_added = added;
	return 0;
}

int filter_add_rules(struct filter *f, const struct strv *allow, const struct strv *deny,
		     struct err *err)
{
	struct policy *added, *next;
	int r = rules_add(f->policy, allow, deny, &next, &added, err);

	if (r < 0)
		return r;
	r = replace_policy(f, next, err);
	if (r == 0)
		rules_tell(added, f->on_event, f->ctx);
	else
		policy_unref(next);
	policy_unref(added);
	return r;
}

int filter_set_rules(struct filter *f, struct policy *policy, struct err *err)
{
	const struct address_guard *old = &f->policy->guard;

	policy->guard.kind = old->kind;
	policy->guard.veiled = old->veiled;
	policy->guard.own = old->own;
	policy->guard.ctx = old->ctx;
	return replace_policy(f, policy, err);
}
