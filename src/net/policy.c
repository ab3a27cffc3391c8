/* SPDX-License-Identifier: MIT */
/*
 * Rules and decisions.
 *
 * Theory of operation: rules for names are hashed by their host, so a question costs one look for
 * the name and one for each of its parents, however many rules there are; rules for addresses are
 * two lists. Allow rules add up: a name may be reached at a port when any allow rule says so and no
 * deny rule does, and it may be at a private address when any of those allow rules is private.
 *
 * The sandbox chooses the names and addresses that are asked for. The rules are the user's.
 */
#include "net/policy.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"

enum { RANGES_ALLOW, RANGES_DENY };

static const char *const reason_names[NET_REASONS] = {
	[NET_ALLOWED] = "allowed",
	[NET_NOT_ALLOWED] = "not-allowed",
	[NET_DENIED_NAME] = "denied-name",
	[NET_PORT] = "port",
	[NET_DIRECT_IP] = "direct-ip",
	[NET_DENIED_ADDRESS] = "denied-address",
	[NET_BAD_NAME] = "bad-name",
	[NET_NAMES_FULL] = "names-full",
	[NET_UNASSIGNED] = "unassigned",
	[NET_UNSPECIFIED] = "unspecified",
	[NET_LOOPBACK] = "loopback",
	[NET_PRIVATE] = "private",
	[NET_LINK_LOCAL] = "link-local",
	[NET_METADATA] = "metadata",
	[NET_MULTICAST] = "multicast",
	[NET_RESERVED] = "reserved",
	[NET_OWN] = "own-address",
	[NET_DENIED_RESOLVED] = "denied-resolved",
	[NET_SNI] = "sni",
	[NET_NO_SNI] = "no-sni",
	[NET_BAD_TLS] = "bad-tls",
	[NET_UDP] = "udp",
	[NET_RELAY_PORT] = "relay-port",
	[NET_LIMIT] = "limit",
	[NET_RESOLVE] = "resolve",
};

const char *net_reason_name(enum net_reason reason)
{
	return reason_names[reason];
}

static enum net_reason class_reason(enum address_class class)
{
	return NET_UNSPECIFIED + (class - ADDRESS_UNSPECIFIED);
}

struct policy *policy_new(void)
{
	struct policy *policy = calloc(1, sizeof(*policy));

	if (policy)
		policy->refs = 1;
	return policy;
}

struct policy *policy_ref(struct policy *policy)
{
	policy->refs++;
	return policy;
}

void policy_unref(struct policy *policy)
{
	while (policy && --policy->refs == 0) {
		struct policy *also = policy->also;

		arena_release(&policy->arena);
		free(policy);
		policy = also;
	}
}

void policy_set_also(struct policy *policy, struct policy *old)
{
	struct policy *before = policy->also;

	policy->also = old ? policy_ref(old) : NULL;
	policy_unref(before);
}

static struct rule **bucket_of(const struct policy *policy, const char *host)
{
	uint32_t h = 2166136261u;

	for (const char *p = host; *p; p++)
		h = (h ^ (unsigned char)*p) * 16777619u;
	return &policy->buckets[(h ^ (h >> 16)) & (policy->n_buckets - 1)];
}

static void link_rule(struct policy *policy, struct rule *rule)
{
	struct rule **head =
		rule->kind == RULE_RANGE
			? &policy->ranges[rule->flags & RULE_DENY ? RANGES_DENY : RANGES_ALLOW]
			: bucket_of(policy, rule->host);

	rule->next = *head;
	*head = rule;
}

/* Makes room for one more rule: as many buckets as rules, rounded up. */
static void grow_buckets(struct policy *policy)
{
	if (policy->n_rules < policy->n_buckets)
		return;
	policy->n_buckets = MAX(policy->n_buckets * 2, (size_t)16);
	policy->buckets = arena_alloc(&policy->arena, policy->n_buckets * sizeof(*policy->buckets));
	for (size_t i = 0; i < policy->n_rules; i++) {
		if (policy->rules[i]->kind != RULE_RANGE)
			link_rule(policy, policy->rules[i]);
	}
}

int policy_add(struct policy *policy, const char *text, unsigned flags, struct err *err)
{
	struct rule *rule, **slot;
	int r;

	if (policy->n_rules >= POLICY_MAX_RULES)
		return err_usage(err, "more than %d network rules", POLICY_MAX_RULES);
	rule = arena_alloc(&policy->arena, sizeof(*rule));
	r = rule_parse(&policy->arena, text, flags, rule, err);
	if (r < 0)
		return r;
	policy->longest = MAX(policy->longest, strlen(rule->host));
	grow_buckets(policy);
	slot = arena_grow(&policy->arena, &policy->rules, &policy->n_rules, sizeof(*slot));
	*slot = rule;
	link_rule(policy, rule);
	return 0;
}

int policy_deny_resolved(struct policy *policy, const char *text, struct err *err)
{
	_cleanup_str_ struct str quoted = { 0 };
	struct address_range range, *slot;
	char buf[RANGE_TEXT];

	switch (range_parse(text, &range)) {
	case RANGE_OK:
		break;
	case RANGE_LOOSE:
		err_usage(err, "address range %s: has bits beyond its prefix",
			  str_quote(&quoted, text));
		return err_hint(err, "the range is %s", range_print(&range, buf));
	case RANGE_BAD:
		return err_usage(err, "%s is no address and no range of addresses",
				 str_quote(&quoted, text));
	}
	if (policy->guard.n_denied >= POLICY_MAX_RULES)
		return err_usage(err, "more than %d denied addresses", POLICY_MAX_RULES);
	slot = arena_grow(&policy->arena, &policy->denied, &policy->guard.n_denied, sizeof(*slot));
	*slot = range;
	policy->guard.denied = policy->denied;
	return 0;
}

/* The rules that a name falls under: its own, those of the names above it, those for all; for ""
 * the last alone. */
struct walk {
	const struct policy *policy;
	const char *name, *at;
	const struct rule *rule;
};

/* A name of many labels, made up inside, must not cost a hash for each of them. */
static const struct rule *first_rule(const struct policy *policy, const char *host)
{
	return policy->n_buckets && strlen(host) <= policy->longest ? *bucket_of(policy, host)
								    : NULL;
}

static struct walk walk_start(const struct policy *policy, const char *name)
{
	return (struct walk){ policy, name, name, first_rule(policy, name) };
}

static const struct rule *walk_next(struct walk *walk)
{
	for (;;) {
		enum rule_kind kind = !*walk->at               ? RULE_ANY
				      : walk->at == walk->name ? RULE_NAME
							       : RULE_BELOW;
		const char *dot;

		while (walk->rule) {
			const struct rule *rule = walk->rule;

			walk->rule = rule->next;
			if (rule->kind == kind && !strcmp(rule->host, walk->at))
				return rule;
		}
		if (!*walk->at)
			return NULL;
		dot = strchr(walk->at, '.');
		walk->at = dot ? dot + 1 : walk->at + strlen(walk->at);
		walk->rule = first_rule(walk->policy, walk->at);
	}
}

static struct verdict allow(const struct rule *rule)
{
	return (struct verdict){ true, NET_ALLOWED, rule };
}

static struct verdict refuse(enum net_reason reason, const struct rule *rule)
{
	return (struct verdict){ false, reason, rule };
}

static bool at_port(const struct rule *rule, uint16_t port)
{
	return !rule->port || rule->port == port;
}

static struct verdict connect_one(const struct policy *policy, const char *name, uint16_t port)
{
	struct walk walk = walk_start(policy, name);
	struct verdict v = refuse(NET_NOT_ALLOWED, NULL);
	const struct rule *rule;

	while ((rule = walk_next(&walk))) {
		if (rule->flags & RULE_DENY) {
			if (at_port(rule, port))
				return refuse(NET_DENIED_NAME, rule);
		} else if (!at_port(rule, port)) {
			if (!v.rule)
				v = refuse(NET_PORT, rule);
		} else if (!v.allow || (rule->flags & ~v.rule->flags & RULE_PRIVATE)) {
			v = allow(rule);
		}
	}
	return v;
}

/* The deny rule that leaves nothing of what an allow rule with this port opens. */
static const struct rule *denied_for(const struct policy *policy, const char *name, uint16_t port)
{
	struct walk walk = walk_start(policy, name);
	const struct rule *rule;

	while ((rule = walk_next(&walk))) {
		if ((rule->flags & RULE_DENY) && at_port(rule, port))
			return rule;
	}
	return NULL;
}

static struct verdict name_one(const struct policy *policy, const char *name)
{
	const struct rule *denied = denied_for(policy, name, 0), *rule;
	struct walk walk = walk_start(policy, name);

	if (denied)
		return refuse(NET_DENIED_NAME, denied);
	while ((rule = walk_next(&walk))) {
		const struct rule *deny;

		if (rule->flags & RULE_DENY)
			continue;
		deny = rule->port ? denied_for(policy, name, rule->port) : NULL;
		if (!deny)
			return allow(rule);
		denied = deny;
	}
	return denied ? refuse(NET_DENIED_NAME, denied) : refuse(NET_NOT_ALLOWED, NULL);
}

/* The deny rule for an address, or for the IPv4 address it stands for. */
static const struct rule *denied_address(const struct policy *policy, const struct address *addr,
					 uint16_t port)
{
	struct address inner = *addr;

	(void)address_embedded(addr, &inner);
	for (const struct rule *rule = policy->ranges[RANGES_DENY]; rule; rule = rule->next) {
		if (at_port(rule, port) &&
		    (range_has(&rule->range, addr) || range_has(&rule->range, &inner)))
			return rule;
	}
	return denied_for(policy, "", port); /* "*" */
}

/* Whether a rule that covers an address opens it although it is of that class. */
static bool opens(const struct rule *rule, enum address_class class, unsigned class_bits)
{
	if (class == ADDRESS_PUBLIC)
		return true;
	if (rule->kind == RULE_RANGE && rule->range.bits >= class_bits)
		return true;
	return (rule->flags & RULE_PRIVATE) && class != ADDRESS_METADATA && class != ADDRESS_DENIED;
}

static struct verdict address_one(const struct policy *policy, const struct address *addr,
				  uint16_t port)
{
	const struct rule *rule = denied_address(policy, addr, port);
	struct verdict v = refuse(NET_DIRECT_IP, NULL);
	enum address_class class;
	unsigned bits;

	if (rule)
		return refuse(NET_DENIED_ADDRESS, rule);
	class = address_guarded(&policy->guard, addr, &bits);
	for (rule = policy->ranges[RANGES_ALLOW]; rule; rule = rule->next) {
		if (!range_has(&rule->range, addr))
			continue;
		if (!at_port(rule, port)) {
			if (!v.rule)
				v = refuse(NET_PORT, rule);
			continue;
		}
		if (opens(rule, class, bits))
			return allow(rule);
		v = refuse(class_reason(class), rule);
	}
	return v;
}

static struct verdict dial_one(const struct policy *policy, const char *name,
			       const struct address *addr, uint16_t port)
{
	struct verdict v = connect_one(policy, name, port), direct;
	enum address_class class;
	const struct rule *denied;
	unsigned bits;

	if (!v.allow)
		return v;
	denied = denied_address(policy, addr, port);
	if (denied)
		return refuse(NET_DENIED_ADDRESS, denied);
	class = address_guarded(&policy->guard, addr, &bits);
	if (opens(v.rule, class, bits))
		return v;
	direct = address_one(policy, addr, port);
	return direct.allow ? direct : refuse(class_reason(class), v.rule);
}

/* The rule for the same hosts at the same port that denies, or that allows. */
static const struct rule *same_rule(const struct policy *policy, const struct rule *rule,
				    unsigned deny)
{
	const struct rule *at = rule->kind == RULE_RANGE
					? policy->ranges[deny ? RANGES_DENY : RANGES_ALLOW]
					: first_rule(policy, rule->host);

	for (; at; at = at->next)
		if (at->kind == rule->kind && at->port == rule->port &&
		    (at->flags & RULE_DENY) == deny && !strcmp(at->host, rule->host) &&
		    at->range.bits == rule->range.bits &&
		    address_equal(&at->range.base, &rule->range.base))
			return at;
	return NULL;
}

static int merge(struct policy *to, const struct policy *old, const struct policy *added,
		 struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < old->n_rules; i++) {
		const struct rule *rule = old->rules[i];

		if (!same_rule(added, rule, ~rule->flags & RULE_DENY))
			r = policy_add(to, rule->text, rule->flags, err);
	}
	for (size_t i = 0; r == 0 && i < added->n_rules; i++) {
		const struct rule *rule = added->rules[i];

		if (!same_rule(to, rule, rule->flags & RULE_DENY))
			r = policy_add(to, rule->text, rule->flags, err);
	}
	return r;
}

struct policy *policy_merge(const struct policy *old, const struct policy *added, struct err *err)
{
	struct policy *policy = policy_new();

	if (!policy) {
		err_errno(err, ENOMEM, "the network's rules");
		return NULL;
	}
	policy->guard = old->guard;
	if (old->guard.n_denied) {
		size_t size = old->guard.n_denied * sizeof(*policy->denied);

		policy->denied = arena_alloc(&policy->arena, size);
		memcpy(policy->denied, old->denied, size);
		policy->guard.denied = policy->denied;
	}
	if (merge(policy, old, added, err) < 0) {
		policy_unref(policy);
		return NULL;
	}
	return policy;
}

/* While rules change, the one before must allow it too; who refuses has the word. */
static struct verdict both(struct verdict now, struct verdict before)
{
	return before.allow ? now : before;
}

struct verdict policy_name(const struct policy *policy, const char *name)
{
	struct verdict v = name_one(policy, name);

	return v.allow && policy->also ? both(v, policy_name(policy->also, name)) : v;
}

struct verdict policy_connect(const struct policy *policy, const char *name, uint16_t port)
{
	struct verdict v = connect_one(policy, name, port);

	return v.allow && policy->also ? both(v, policy_connect(policy->also, name, port)) : v;
}

struct verdict policy_address(const struct policy *policy, const struct address *addr,
			      uint16_t port)
{
	struct verdict v = address_one(policy, addr, port);

	return v.allow && policy->also ? both(v, policy_address(policy->also, addr, port)) : v;
}

struct verdict policy_dial(const struct policy *policy, const char *name,
			   const struct address *addr, uint16_t port)
{
	struct verdict v = dial_one(policy, name, addr, port);

	return v.allow && policy->also ? both(v, policy_dial(policy->also, name, addr, port)) : v;
}
