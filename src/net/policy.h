/* SPDX-License-Identifier: MIT */
/*
 * Who may be reached: rules, and the four questions that DNS, relay and dialler ask.
 *
 *	DNS question for a name      policy_name()     is there any port at which it may be reached?
 *	connection to a name         policy_connect()  at this port?
 *	connection to an address     policy_address()  as written in a rule?
 *	name resolved, before dial   policy_dial()     is this a fit address for it?
 *
 * Deny beats allow, whatever their order and however narrow. What no rule allows is refused.
 * Names are canonical (name_canonical()) everywhere in here.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "net/names.h"

enum { POLICY_MAX_RULES = 65536 };

enum rule_flags {
	RULE_DENY = 1 << 0,    /* else it allows */
	RULE_PRIVATE = 1 << 1, /* an allow rule whose host may be at a private address, loopback or
				* the host itself; not at a metadata service */
};

enum rule_kind {
	RULE_NAME,  /* host */
	RULE_BELOW, /* *.host */
	RULE_RANGE, /* addresses */
	RULE_ANY,   /* "*", in deny rules only */
};

struct rule {
	const char *text; /* as it was written; printable ASCII */
	enum rule_kind kind;
	unsigned flags;
	uint16_t port;    /* 0: every port */
	const char *host; /* canonical, without "*."; "" for RULE_RANGE and RULE_ANY */
	struct address_range range;
	struct rule *next; /* of the same hash bucket, or of the ranges */
};

/* Why something is allowed or not; the relay's own reasons are here too, so that all of them have
 * their words in one place. */
enum net_reason {
	NET_ALLOWED,
	NET_NOT_ALLOWED,    /* no rule allows this name */
	NET_DENIED_NAME,    /* a rule denies it */
	NET_PORT,           /* the host is allowed, not at this port */
	NET_DIRECT_IP,      /* an address that no rule allows */
	NET_DENIED_ADDRESS, /* a rule denies it */
	NET_BAD_NAME,       /* no host name: odd bytes, a number, too long */
	NET_NAMES_FULL,     /* too many names */
	NET_UNASSIGNED,     /* a synthetic address that no name has */
	/* The name leads to such an address: in the order of enum address_class. */
	NET_UNSPECIFIED,
	NET_LOOPBACK,
	NET_PRIVATE,
	NET_LINK_LOCAL,
	NET_METADATA,
	NET_MULTICAST,
	NET_RESERVED,
	NET_OWN,
	NET_DENIED_RESOLVED,
	/* Relay. */
	NET_SNI,     /* TLS for another name */
	NET_NO_SNI,  /* TLS without a name, or no TLS, where a name is required */
	NET_BAD_TLS, /* a TLS hello that nobody sends in good faith */
	NET_UDP,
	NET_RELAY_PORT, /* a connection to the relay itself */
	NET_LIMIT,      /* too many connections */
	NET_RESOLVE,    /* the name has no address */
	NET_REASONS,
};
const char *net_reason_name(enum net_reason reason); /* "denied-name"; stable, for events */

/* The name is allowed, but not where it leads to: a rule for that address would open it. */
static inline bool net_reason_is_resolved(enum net_reason reason)
{
	return reason >= NET_UNSPECIFIED && reason <= NET_DENIED_RESOLVED;
}

/* A rule decided, or the lack of one; nothing that the network said. */
static inline bool net_reason_is_policy(enum net_reason reason)
{
	return reason != NET_ALLOWED && reason <= NET_DENIED_RESOLVED;
}

struct verdict {
	bool allow;
	enum net_reason reason;
	const struct rule *rule; /* that decided; NULL when none did. Lives as long as its policy */
};

/*
 * Counted, because a connection keeps the rule that allowed it while the rules are replaced.
 * To replace them: build the new policy, set its 'also' to the old one while anything outside of
 * the process (listeners, kernel rules) still follows the old one: until it is cleared, only what
 * both allow is allowed. Then ask policy_connect() or policy_address() again for what is open or
 * being dialled, and cut what is refused.
 */
struct policy {
	unsigned refs;
	struct arena arena;
	struct rule **rules; /* in the order of their addition */
	size_t n_rules;
	struct rule **buckets; /* names, by host */
	size_t n_buckets;
	size_t longest;               /* host of a rule: a longer name has no bucket to look into */
	struct rule *ranges[2];       /* allow, deny */
	struct address_range *denied; /* guard.denied */
	struct address_guard guard;   /* kind, own and ctx are the caller's to set */
	struct policy *also;          /* set with policy_set_also() */
};

struct policy *policy_new(void);
struct policy *policy_ref(struct policy *policy);
void policy_unref(struct policy *policy); /* NULL is fine */
void policy_set_also(struct policy *policy,
		     struct policy *old); /* takes a reference; NULL ends it */

/*
 * One HOST[:PORT]. HOST is a name, "*.name", an IPv4 address or range, "[v6]", "[v6/bits]" or
 * "v6/bits"; in a deny rule also "*". Refused are URLs, paths, blanks, wildcards elsewhere or over a
 * whole top-level domain, names outside of ASCII, numbers that only a resolver takes for addresses.
 */
int policy_add(struct policy *policy, const char *text, unsigned flags, struct err *err);
/* The rules of old and of added together, where added has the last word: a rule of old's that it turns
 * around (same host, same port, allow for deny or deny for allow) is gone. NULL when they are too many. */
struct policy *policy_merge(const struct policy *old, const struct policy *added, struct err *err);
/* The reading alone. Strings live in the arena; 'next' is not set. */
int rule_parse(struct arena *arena, const char *text, unsigned flags, struct rule *ret,
	       struct err *err);
/* An address or range that no name may lead to, besides the guard's classes. */
int policy_deny_resolved(struct policy *policy, const char *text, struct err *err);

struct verdict policy_name(const struct policy *policy, const char *name);
struct verdict policy_connect(const struct policy *policy, const char *name, uint16_t port);

/* As the sandbox dialled it. A range opens the special addresses in it (private, loopback ...) only
 * when it holds nothing else, or is RULE_PRIVATE: 0.0.0.0/0 is the public internet. */
struct verdict policy_address(const struct policy *policy, const struct address *addr,
			      uint16_t port);

/* policy_connect() and then the address. Special addresses are open to RULE_PRIVATE, and where an
 * allow rule names that address (see policy_address()). */
struct verdict policy_dial(const struct policy *policy, const char *name,
			   const struct address *addr, uint16_t port);
