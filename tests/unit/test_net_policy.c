/* SPDX-License-Identifier: MIT */
/* Network rules: how they are read, and what they decide. */
#include "net/policy.h"

#include <errno.h>

#include "lib/tap.h"

#define L63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static struct address addr_of(const char *text)
{
	struct address addr = { 0 };

	if (!address_parse(text, &addr))
		ok(false, "the test's own address %s", text);
	return addr;
}

/* Rules in a row: "+x" allows, "+p x" allows private addresses too, "-x" denies, "=x" is no address
 * for a name. */
static struct policy *policy_of(const char *const *rules)
{
	struct policy *policy = policy_new();
	struct err err = { 0 };
	int r = 0;

	for (; *rules && r == 0; rules++) {
		const char *text = *rules + 1;
		unsigned flags = **rules == '-' ? RULE_DENY : 0;

		if (text[0] == 'p' && text[1] == ' ') {
			flags |= RULE_PRIVATE;
			text += 2;
		}
		r = **rules == '=' ? policy_deny_resolved(policy, text, &err)
				   : policy_add(policy, text, flags, &err);
	}
	if (r < 0)
		ok(false, "the test's own rules: %s", err.msg);
	return policy;
}
#define RULES(...) policy_of((const char *const[]){ __VA_ARGS__, NULL })

static void test_read(void)
{
	static const struct {
		const char *text;
		enum rule_kind kind;
		const char *host; /* or the range */
		unsigned port;
	} cases[] = {
		{ "example.com", RULE_NAME, "example.com", 0 },
		{ "Example.COM.:443", RULE_NAME, "example.com", 443 },
		{ "localhost:3000", RULE_NAME, "localhost", 3000 },
		{ "gitlab:22", RULE_NAME, "gitlab", 22 },
		{ "*.example.com", RULE_BELOW, "example.com", 0 },
		{ "*.Example.com.:65535", RULE_BELOW, "example.com", 65535 },
		{ "xn--bcher-kva.example:1", RULE_NAME, "xn--bcher-kva.example", 1 },
		{ "192.0.2.1", RULE_RANGE, "192.0.2.1", 0 },
		{ "192.0.2.1:80", RULE_RANGE, "192.0.2.1", 80 },
		{ "10.0.0.0/8", RULE_RANGE, "10.0.0.0/8", 0 },
		{ "10.0.0.0/8:5432", RULE_RANGE, "10.0.0.0/8", 5432 },
		{ "[2001:db8::1]", RULE_RANGE, "2001:db8::1", 0 },
		{ "[2001:DB8::1]:443", RULE_RANGE, "2001:db8::1", 443 },
		{ "[2001:db8::/32]", RULE_RANGE, "2001:db8::/32", 0 },
		{ "[2001:db8::/32]:443", RULE_RANGE, "2001:db8::/32", 443 },
		{ "[2001:db8::]/32:443", RULE_RANGE, "2001:db8::/32", 443 },
		{ "2001:db8::/32", RULE_RANGE, "2001:db8::/32", 0 },
		{ "[::ffff:192.0.2.1]:80", RULE_RANGE, "192.0.2.1", 80 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct arena arena = { 0 };
		struct err err = { 0 };
		char buf[RANGE_TEXT];
		struct rule rule;

		if (!ok(rule_parse(&arena, cases[i].text, 0, &rule, &err) == 0, "rule %s",
			cases[i].text)) {
			diag("%s", err.msg);
		} else {
			is_int(rule.kind, cases[i].kind, "its kind");
			is_str(rule.kind == RULE_RANGE ? range_print(&rule.range, buf) : rule.host,
			       cases[i].host, "its host");
			is_int(rule.port, cases[i].port, "its port");
			is_str(rule.text, cases[i].text, "its text is as written");
		}
		arena_release(&arena);
	}
}

static void test_refused(void)
{
	static const struct {
		const char *text, *msg; /* a part of the message or the hint */
	} cases[] = {
		{ "", "empty" },
		{ "*", "--network open" },
		{ "*:443", "--network open" },
		{ "*.com", "top-level" },
		{ "*.com:443", "top-level" },
		{ "*.", "no host name" },
		{ "*.*.example.com", "'*.'" },
		{ "*example.com", "'*.'" },
		{ "a.*.example.com", "'*.'" },
		{ "example.*", "'*.'" },
		{ "*.0.0.1", "neither" },
		{ ".example.com", "*.example.com" },
		{ "example..com", "no host name" },
		{ "example.com..", "no host name" },
		{ "https://example.com", "URL" },
		{ "https://example.com/x", "URL" },
		{ "example.com/x", "'/'" },
		{ "example.com/", "'/'" },
		{ "user@example.com", "'@'" },
		{ "example .com", "blank" },
		{ " example.com", "blank" },
		{ "example.com\n", "blank" },
		{ "exam\tple.com", "blank" },
		{ "exam\x1bple.com", "blank" },
		{ "b\xc3\xbc"
		  "cher.example",
		  "punycode" },
		{ "example.com:", "1 to 65535" },
		{ "example.com:0", "1 to 65535" },
		{ "example.com:65536", "1 to 65535" },
		{ "example.com:080", "1 to 65535" },
		{ "example.com:+80", "1 to 65535" },
		{ "example.com:http", "1 to 65535" },
		{ "example.com:80-90", "1 to 65535" },
		{ "example.com:*", "1 to 65535" },
		{ "example.com:4294967376", "1 to 65535" },
		{ ":443", "no host name" },
		{ "127.1", "neither" },
		{ "2130706433", "neither" },
		{ "0x7f000001:80", "neither" },
		{ "1.2.3.256", "neither" },
		{ "1.2.3.4.5", "neither" },
		{ "example.123", "number" },
		{ "10.0.0.1/8", "10.0.0.0/8" },
		{ "10.0.0.0/33", "range" },
		{ "10.0.0.0/8/8", "range" },
		{ "::1", "brackets" },
		{ "2001:db8::1:443", "brackets" },
		{ "a:b:c", "brackets" },
		{ "fd00::1/8", "fd00::/8" },
		{ "fd00::/8:443", "IPv6" },
		{ "[::1", "brackets" },
		{ "[::1]]", "brackets" },
		{ "[::1]443", "brackets" },
		{ "[::1]:", "1 to 65535" },
		{ "[::1]:x", "1 to 65535" },
		{ "[127.0.0.1]", "brackets" },
		{ "[127.0.0.1]:80", "brackets" },
		{ "[example.com]", "brackets" },
		{ "[::1%lo]", "IPv6" },
		{ "[fe80::1%25eth0]:80", "IPv6" },
		{ "[]", "brackets" },
		{ "[:]", "IPv6" },
		{ "[::/0]/0", "IPv6" },
		{ L63 "a.example.com", "no host name" },
		{ L63 "." L63 "." L63 "." L63, "no host name" },
		{ L63 "." L63 "." L63 "." L63 "." L63, "too long" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct policy *policy = policy_new();
		struct err err = { 0 };
		int r = policy_add(policy, cases[i].text, 0, &err);

		if (!ok(r == -EINVAL && err.exit == EXIT_USAGE && !policy->n_rules &&
				(strstr(err.msg, cases[i].msg) || strstr(err.hint, cases[i].msg)),
			"'%s' is refused: %s", cases[i].text, cases[i].msg))
			diag("%d %s / %s", r, err.msg, err.hint);
		policy_unref(policy);
	}
}

static void test_flags(void)
{
	struct policy *policy = policy_new();
	struct err err = { 0 };

	is_int(policy_add(policy, "*", RULE_DENY, &err), 0, "a deny rule may be for all");
	is_int(policy_add(policy, "*:25", RULE_DENY, &err), 0, "at one port");
	ok(policy_add(policy, "*.com", RULE_DENY, &err) < 0, "but for no top-level domain");
	ok(policy_add(policy, "x.example", RULE_DENY | RULE_PRIVATE, &err) < 0,
	   "a deny rule is never private");
	ok(policy_deny_resolved(policy, "10.0.0.1/8", &err) < 0 && strstr(err.hint, "10.0.0.0/8"),
	   "a denied range is read as strictly");
	ok(policy_deny_resolved(policy, "example.com", &err) < 0, "and is no name");
	policy_unref(policy);
	policy_unref(NULL);
}

struct question {
	const char *host;
	unsigned port; /* 0: policy_name() */
	const char *reason, *rule;
};

static void ask(const struct policy *policy, const struct question *q)
{
	struct address addr;
	struct verdict v;

	if (address_parse(q->host, &addr))
		v = policy_address(policy, &addr, (uint16_t)q->port);
	else if (q->port)
		v = policy_connect(policy, q->host, (uint16_t)q->port);
	else
		v = policy_name(policy, q->host);
	is_str(net_reason_name(v.reason), q->reason, "%s:%u", q->host, q->port);
	is_str(v.rule ? v.rule->text : NULL, q->rule, "the rule that decides");
	ok(v.allow == (v.reason == NET_ALLOWED), "the verdict agrees with the reason");
}

static void test_names(void)
{
	static const struct question cases[] = {
		{ "example.com", 0, "allowed", "example.com:443" },
		{ "example.com", 443, "allowed", "example.com:443" },
		{ "example.com", 80, "port", "example.com:443" },
		{ "www.example.com", 0, "not-allowed", NULL },
		{ "www.example.com", 443, "not-allowed", NULL },
		{ "notexample.com", 443, "not-allowed", NULL },
		{ "example.com.evil.example", 443, "not-allowed", NULL },
		{ "com", 443, "not-allowed", NULL },
		{ "a.wild.example", 1, "allowed", "*.wild.example" },
		{ "b.a.wild.example", 65535, "allowed", "*.wild.example" },
		{ "wild.example", 0, "not-allowed", NULL },
		{ "wild.example", 443, "not-allowed", NULL },
		{ "awild.example", 443, "not-allowed", NULL },
		{ "bad.wild.example", 0, "denied-name", "bad.wild.example" },
		{ "bad.wild.example", 443, "denied-name", "bad.wild.example" },
		{ "x.bad.wild.example", 443, "allowed", "*.wild.example" },
		{ "worse.wild.example", 443, "allowed", "*.wild.example" },
		{ "x.worse.wild.example", 443, "denied-name", "*.worse.wild.example" },
		{ "y.x.worse.wild.example", 0, "denied-name", "*.worse.wild.example" },
		/* Denied at one port, open at others. */
		{ "half.wild.example", 0, "allowed", "*.wild.example" },
		{ "half.wild.example", 22, "denied-name", "half.wild.example:22" },
		{ "half.wild.example", 443, "allowed", "*.wild.example" },
		/* The one port that is open is denied. */
		{ "none.example", 0, "denied-name", "none.example:80" },
		{ "none.example", 80, "denied-name", "none.example:80" },
		{ "none.example", 81, "port", "none.example:80" },
		/* Rules add up. */
		{ "two.example", 0, "allowed", NULL },
		{ "two.example", 80, "allowed", "two.example:80" },
		{ "two.example", 443, "allowed", "two.example:443" },
		{ "two.example", 22, "port", NULL },
	};
	struct policy *policy = RULES("+example.com:443", "+*.wild.example", "-bad.wild.example",
				      "-*.worse.wild.example", "-half.wild.example:22",
				      "+none.example:80", "-none.example:80", "+two.example:80",
				      "+two.example:443");

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct question q = cases[i];

		/* Which of two equal rules decides is not promised. */
		if (!strcmp(q.host, "two.example") && !q.rule) {
			struct verdict v = q.port ? policy_connect(policy, q.host, (uint16_t)q.port)
						  : policy_name(policy, q.host);

			is_str(net_reason_name(v.reason), q.reason, "%s:%u", q.host, q.port);
		} else {
			ask(policy, &q);
		}
	}
	policy_unref(policy);
}

static void test_empty(void)
{
	struct policy *policy = policy_new();

	ask(policy, &(struct question){ "example.com", 0, "not-allowed", NULL });
	ask(policy, &(struct question){ "example.com", 443, "not-allowed", NULL });
	ask(policy, &(struct question){ "192.0.2.1", 443, "direct-ip", NULL });
	policy_unref(policy);
}

static void test_deny_all(void)
{
	static const struct question cases[] = {
		{ "example.com", 0, "allowed", "example.com" },
		{ "example.com", 25, "denied-name", "*:25" },
		{ "example.com", 443, "allowed", "example.com" },
		{ "192.0.2.1", 25, "denied-address", "*:25" },
		{ "192.0.2.1", 443, "allowed", "192.0.2.1" },
		{ "2001:db8::1", 25, "denied-address", "*:25" },
	};
	struct policy *policy = RULES("+example.com", "+192.0.2.1", "-*:25");

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		ask(policy, &cases[i]);
	policy_unref(policy);
	policy = RULES("-*", "+example.com", "+192.0.2.1");
	ask(policy, &(struct question){ "example.com", 0, "denied-name", "*" });
	ask(policy, &(struct question){ "192.0.2.1", 1, "denied-address", "*" });
	policy_unref(policy);
}

static void test_addresses(void)
{
	static const struct question cases[] = {
		{ "192.0.2.1", 443, "allowed", "192.0.2.1:443" },
		{ "192.0.2.1", 80, "port", "192.0.2.1:443" },
		{ "192.0.2.2", 443, "direct-ip", NULL },
		{ "::ffff:192.0.2.1", 443, "allowed", "192.0.2.1:443" },
		{ "64:ff9b::192.0.2.1", 443, "port", "[64:ff9b::/96]:22" },
		{ "2001:db8::1", 443, "allowed", "[2001:db8::/32]:443" },
		{ "2001:db8::1", 80, "port", "[2001:db8::/32]:443" },
		{ "2001:db8:dead::1", 443, "denied-address", "[2001:db8:dead::/48]" },
		{ "2001:db9::1", 443, "direct-ip", NULL },
		/* A private range, named. */
		{ "10.1.2.3", 22, "allowed", "10.1.0.0/16" },
		{ "10.2.2.3", 22, "direct-ip", NULL },
		{ "10.1.9.9", 22, "denied-address", "10.1.9.9" },
		{ "64:ff9b::10.1.9.9", 22, "denied-address", "10.1.9.9" },
		/* A range wider than the special ones in it opens the public part alone. */
		{ "161.1.1.1", 8080, "allowed", "160.0.0.0/3:8080" },
		{ "172.16.0.1", 8080, "private", "160.0.0.0/3:8080" },
		{ "169.254.1.1", 8080, "link-local", "160.0.0.0/3:8080" },
		{ "169.254.169.254", 8080, "metadata", "160.0.0.0/3:8080" },
		{ "224.0.0.1", 8080, "multicast", "224.0.0.0/3" },
		/* All of link-local is meant, the metadata service only by its own address. */
		{ "169.254.1.1", 1, "allowed", "169.254.0.0/16:1" },
		{ "169.254.169.254", 1, "metadata", "169.254.0.0/16:1" },
		{ "169.254.169.254", 2, "allowed", "169.254.169.254:2" },
	};
	struct policy *policy = RULES("+192.0.2.1:443", "+[2001:db8::/32]:443",
				      "-[2001:db8:dead::/48]", "+10.1.0.0/16", "-10.1.9.9",
				      "+160.0.0.0/3:8080", "+169.254.0.0/16:1",
				      "+169.254.169.254:2", "+224.0.0.0/3", "+[64:ff9b::/96]:22");

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		ask(policy, &cases[i]);
	policy_unref(policy);
}

static bool is_own(void *ctx, const struct address *addr)
{
	return address_equal(addr, ctx);
}

static void test_own(void)
{
	struct policy *policy = RULES("+192.168.1.0/24", "+p 192.168.2.0/24", "+192.168.1.7");
	struct address own = addr_of("192.168.1.5");

	policy->guard.own = is_own;
	policy->guard.ctx = &own;
	ask(policy, &(struct question){ "192.168.1.6", 1, "allowed", "192.168.1.0/24" });
	ask(policy, &(struct question){ "192.168.1.5", 1, "own-address", "192.168.1.0/24" });
	own = addr_of("192.168.1.7");
	ask(policy, &(struct question){ "192.168.1.7", 1, "allowed", "192.168.1.7" });
	own = addr_of("192.168.2.5");
	ask(policy, &(struct question){ "192.168.2.5", 1, "allowed", "192.168.2.0/24" });
	policy_unref(policy);
}

static void test_dial(void)
{
	static const struct {
		const char *name, *addr;
		unsigned port;
		const char *strict, *srt;
	} cases[] = {
		{ "a.example", "8.8.8.8", 443, "allowed", "allowed" },
		{ "a.example", "2001:4860::1", 443, "allowed", "allowed" },
		{ "a.example", "8.8.8.8", 80, "port", "port" },
		{ "b.example", "8.8.8.8", 443, "not-allowed", "not-allowed" },
		{ "b.example", "10.0.0.1", 443, "not-allowed", "not-allowed" },
		{ "b.example", "192.168.7.7", 443, "not-allowed", "not-allowed" },
		{ "a.example", "10.0.0.1", 443, "private", "allowed" },
		{ "a.example", "::ffff:10.0.0.1", 443, "private", "allowed" },
		{ "a.example", "64:ff9b::a00:1", 443, "private", "allowed" },
		{ "a.example", "fd00::1", 443, "private", "allowed" },
		{ "a.example", "127.0.0.1", 443, "loopback", "loopback" },
		{ "a.example", "::1", 443, "loopback", "loopback" },
		{ "a.example", "0.0.0.0", 443, "unspecified", "unspecified" },
		{ "a.example", "169.254.169.254", 443, "metadata", "metadata" },
		{ "a.example", "192.0.2.2", 443, "own-address", "own-address" },
		{ "a.example", "203.0.113.5", 443, "denied-resolved", "denied-resolved" },
		{ "a.example", "198.51.100.7", 443, "denied-address", "denied-address" },
		{ "a.example", "64:ff9b::198.51.100.7", 443, "denied-address", "denied-address" },
		/* A private rule. */
		{ "p.example", "10.0.0.1", 1, "allowed", "allowed" },
		{ "p.example", "127.0.0.1", 1, "allowed", "allowed" },
		{ "p.example", "192.0.2.2", 1, "allowed", "allowed" },
		{ "p.example", "169.254.169.254", 1, "metadata", "metadata" },
		{ "p.example", "203.0.113.5", 1, "denied-resolved", "denied-resolved" },
		{ "p.example", "198.51.100.7", 1, "denied-address", "denied-address" },
		/* Another rule for the same name is private, at its port. */
		{ "q.example", "10.0.0.1", 22, "allowed", "allowed" },
		{ "q.example", "10.0.0.1", 443, "private", "allowed" },
		{ "r.example", "10.0.0.1", 22, "allowed", "allowed" },
		{ "r.example", "10.0.0.1", 443, "private", "allowed" },
		{ "x.s.example", "10.0.0.1", 22, "allowed", "allowed" },
		/* The address itself is allowed, at that port. */
		{ "a.example", "192.168.7.7", 443, "allowed", "allowed" },
		{ "a.example", "192.168.7.8", 443, "private", "allowed" },
		{ "c.example", "192.168.7.7", 80, "private", "allowed" },
		{ "a.example", "203.0.113.6", 443, "allowed", "allowed" },
		{ "a.example", "172.16.9.9", 443, "allowed", "allowed" },
		/* A range that is not about loopback opens none. */
		{ "c.example", "127.0.0.1", 443, "loopback", "loopback" },
	};
	struct policy *policy = RULES("+a.example:443", "+p p.example", "+q.example",
				      "+p q.example:22", "+p r.example:22", "+r.example",
				      "+x.s.example", "+p *.s.example", "+c.example",
				      "=203.0.113.0/24", "-198.51.100.7", "+192.168.7.7:443",
				      "+203.0.113.6", "+172.16.0.0/12", "+0.0.0.0/0:443");
	struct address own = addr_of("192.0.2.2");

	policy->guard.own = is_own;
	policy->guard.ctx = &own;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct address addr = addr_of(cases[i].addr);

		for (int kind = GUARD_STRICT; kind <= GUARD_SRT; kind++) {
			struct verdict v;

			policy->guard.kind = kind;
			v = policy_dial(policy, cases[i].name, &addr, (uint16_t)cases[i].port);
			is_str(net_reason_name(v.reason),
			       kind == GUARD_SRT ? cases[i].srt : cases[i].strict,
			       "%s at %s port %u%s", cases[i].name, cases[i].addr, cases[i].port,
			       kind == GUARD_SRT ? " in srt's classes" : "");
		}
	}
	policy_unref(policy);
}

/* While rules are replaced, what is allowed is what both allow. */
static void test_also(void)
{
	struct policy *old = RULES("+both.example", "+old.example", "+both.example:22",
				   "+p private.example", "+192.0.2.1", "+192.0.2.2");
	struct policy *new = RULES("+both.example", "-both.example:22", "+new.example",
				   "+private.example", "+192.0.2.1", "+192.0.2.3");
	struct address addr = addr_of("10.0.0.1");

	policy_set_also(new, old);
	policy_unref(old); /* new holds it */
	ask(new, &(struct question){ "both.example", 0, "allowed", "both.example" });
	ask(new, &(struct question){ "both.example", 443, "allowed", "both.example" });
	ask(new, &(struct question){ "both.example", 22, "denied-name", "both.example:22" });
	ask(new, &(struct question){ "old.example", 443, "not-allowed", NULL });
	ask(new, &(struct question){ "new.example", 443, "not-allowed", NULL });
	ask(new, &(struct question){ "new.example", 0, "not-allowed", NULL });
	ask(new, &(struct question){ "192.0.2.1", 443, "allowed", "192.0.2.1" });
	ask(new, &(struct question){ "192.0.2.2", 443, "direct-ip", NULL });
	ask(new, &(struct question){ "192.0.2.3", 443, "direct-ip", NULL });
	is_int(policy_dial(new, "private.example", &addr, 1).reason, NET_PRIVATE,
	       "a flag that the new rule lacks");
	policy_set_also(new, NULL);
	ask(new, &(struct question){ "new.example", 443, "allowed", "new.example" });
	ask(new, &(struct question){ "192.0.2.3", 443, "allowed", "192.0.2.3" });
	policy_unref(new);
}

/* The rules of a policy as the tests write them, with blanks between. */
static const char *rules_of(const struct policy *policy)
{
	static char text[256];

	text[0] = '\0';
	for (size_t i = 0; i < policy->n_rules; i++) {
		const struct rule *rule = policy->rules[i];
		size_t len = strlen(text);

		snprintf(text + len, sizeof(text) - len, "%s%c%s%s", i ? " " : "",
			 rule->flags & RULE_DENY ? '-' : '+',
			 rule->flags & RULE_PRIVATE ? "p " : "", rule->text);
	}
	return text;
}

static void test_merge(void)
{
	static const struct {
		const char *old[4], *added[4], *want, *name;
	} cases[] = {
		{ { "+a.test" }, { "-b.test", "+c.test" }, "+a.test -b.test +c.test", "in a row" },
		{ { "+a.test" }, { NULL }, "+a.test", "nothing new" },
		{ { NULL }, { "+a.test" }, "+a.test", "nothing old" },
		{ { "+a.test" }, { "+A.test.", "+a.test" }, "+a.test", "each once" },
		{ { "+p a.test" }, { "+a.test" }, "+p a.test", "a private one stays so" },
		{ { "-a.test", "+b.test" },
		  { "+a.test" },
		  "+b.test +a.test",
		  "a deny rule taken back" },
		{ { "+a.test", "+b.test" }, { "-a.test" }, "+b.test -a.test", "an allow rule too" },
		{ { "-a.test" },
		  { "+a.test:22" },
		  "-a.test +a.test:22",
		  "another port is another rule" },
		{ { "-*.a.test" }, { "+a.test" }, "-*.a.test +a.test", "so is a wildcard" },
		{ { "-192.0.2.0/24" },
		  { "+192.0.2.0/24", "+192.0.2.0" },
		  "+192.0.2.0/24 +192.0.2.0",
		  "a range is taken back as a range" },
		{ { "-192.0.2.0/24" }, { "+192.0.2.0" }, "-192.0.2.0/24 +192.0.2.0", "... only" },
		{ { "+a.test" },
		  { "+a.test", "-a.test" },
		  "+a.test -a.test",
		  "both: the deny rule counts" },
	};
	struct policy *old = RULES("+a.test", "=203.0.113.0/24"), *none = RULES(NULL), *new;
	struct address denied = addr_of("203.0.113.9");
	struct err err;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct policy *x = policy_of(cases[i].old), *y = policy_of(cases[i].added);

		new = policy_merge(x, y, &err);
		is_str(rules_of(new), cases[i].want, "merge: %s", cases[i].name);
		policy_unref(x);
		policy_unref(y);
		policy_unref(new);
	}
	new = policy_merge(old, none, &err);
	policy_unref(old);
	ok(!policy_dial(new, "a.test", &denied, 443).allow, "the guard goes along");
	policy_unref(new);
	policy_unref(none);
}

/* As many as a large block list has; also makes the table grow many times. */
static void test_many(void)
{
	struct policy *policy = policy_new();
	struct err err = { 0 };
	unsigned wrong = 0;
	char text[64];

	for (int i = 0; i < POLICY_MAX_RULES; i++) {
		(void)snprintf(text, sizeof(text), "%shost-%d.example:%d", i % 3 ? "" : "*.", i,
			       1 + i % 60000);
		wrong += policy_add(policy, text, i % 2 ? RULE_DENY : 0, &err) < 0;
	}
	is_int(wrong, 0, "%d rules", POLICY_MAX_RULES);
	for (int i = 0; i < POLICY_MAX_RULES; i++) {
		uint16_t port = (uint16_t)(1 + i % 60000);
		struct verdict v;

		(void)snprintf(text, sizeof(text), "%shost-%d.example", i % 3 ? "" : "a.", i);
		v = policy_connect(policy, text, port);
		wrong += v.reason != (i % 2 ? NET_DENIED_NAME : NET_ALLOWED) ||
			 v.rule != policy->rules[i];
		(void)snprintf(text, sizeof(text), "%shost-%d.example", i % 3 ? "a." : "", i);
		wrong += policy_connect(policy, text, port).reason != NET_NOT_ALLOWED;
	}
	is_int(wrong, 0, "each decides about its host");
	ok(policy_add(policy, "one-more.example", 0, &err) < 0, "one more is refused");
	policy_unref(policy);
}

static void test_reasons(void)
{
	/* In the order of enum address_class, by which policy.c finds them; events say them. */
	static const char *const classes[] = {
		"unspecified", "loopback", "private",     "link-local",      "metadata",
		"multicast",   "reserved", "own-address", "denied-resolved",
	};
	unsigned wrong = 0;

	for (enum net_reason a = 0; a < NET_REASONS; a++) {
		wrong += !net_reason_name(a);
		for (enum net_reason b = 0; b < a; b++)
			wrong += !strcmp(net_reason_name(a), net_reason_name(b));
	}
	is_int(wrong, 0, "every reason has a word of its own");
	for (enum address_class c = ADDRESS_UNSPECIFIED; c <= ADDRESS_DENIED; c++)
		is_str(net_reason_name(NET_UNSPECIFIED + (c - ADDRESS_UNSPECIFIED)),
		       classes[c - ADDRESS_UNSPECIFIED], "a class has its reason");
}

int main(void)
{
	test_read();
	test_refused();
	test_flags();
	test_names();
	test_empty();
	test_deny_all();
	test_addresses();
	test_own();
	test_dial();
	test_also();
	test_merge();
	test_many();
	test_reasons();
	return done();
}
