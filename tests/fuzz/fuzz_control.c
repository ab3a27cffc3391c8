/* SPDX-License-Identifier: MIT */
/*
 * A request to a running session, as the supervisor reads it: what it takes is written and read again
 * as the same, its rules go into a policy on top of others, and every failure makes a reply that the
 * client understands. The same bytes are also read as a reply.
 */
#include "session/request.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "net/policy.h"
#include "fuzz.h"

static void check_same(const struct strv *a, const struct strv *b)
{
	check(a->len == b->len);
	for (size_t i = 0; i < a->len; i++)
		check(!strcmp(a->v[i], b->v[i]));
}

/* The reply tells the same failure, and holds nothing that a terminal obeys. */
static void check_reply(const struct err *err)
{
	_cleanup_str_ struct str text = { 0 };
	struct err read = { 0 };

	reply_add(&text, err);
	for (const char *p = text.s; *p; p++)
		check((unsigned char)*p >= 0x20 && *p != 0x7f);
	check((reply_parse(text.s, text.len, &read) == 0) == !err);
	if (err)
		check(!strcmp(read.msg, err->msg) && !strcmp(read.hint, err->hint));
}

static int add_all(struct policy *policy, const struct request *request, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < request->allow.len; i++)
		r = policy_add(policy, request->allow.v[i], 0, err);
	for (size_t i = 0; r == 0 && i < request->deny.len; i++)
		r = policy_add(policy, request->deny.v[i], RULE_DENY, err);
	return r;
}

static bool allows(const struct policy *policy, const struct rule *rule)
{
	uint16_t port = rule->port ? rule->port : 443;
	char name[512];

	if (rule->kind == RULE_RANGE)
		return policy_address(policy, &rule->range.base, port).allow;
	/* "*.host" is about what is below it */
	snprintf(name, sizeof(name), "%s%s", rule->kind == RULE_BELOW ? "x." : "", rule->host);
	return policy_connect(policy, name, port).allow;
}

/* What is denied anew is denied; what both had is not written twice; again changes nothing. */
static void check_merge(const struct policy *old, const struct policy *added)
{
	struct err err;
	struct policy *next = policy_merge(old, added, &err), *again;

	check(next && next->n_rules <= old->n_rules + added->n_rules);
	again = policy_merge(next, next, &err);
	check(again && again->n_rules <= next->n_rules);
	for (size_t i = 0; i < added->n_rules; i++) {
		const struct rule *rule = added->rules[i];

		if (rule->flags & RULE_DENY)
			check(!allows(next, rule));
		else if (allows(next, rule))
			check(allows(added, rule) || allows(old, rule));
	}
	policy_unref(next);
	policy_unref(again);
}

static void use(const struct request *request)
{
	struct policy *old = policy_new(), *added = policy_new();
	struct err err = { 0 };

	check(old && added);
	check(policy_add(old, "a.example", 0, &err) == 0);
	check(policy_add(old, "*.b.example:443", 0, &err) == 0);
	check(policy_add(old, "c.example", RULE_DENY, &err) == 0);
	check(policy_add(old, "192.0.2.0/24", 0, &err) == 0);
	check(policy_add(old, "2001:db8::/32", RULE_DENY, &err) == 0);
	if (add_all(added, request, &err) < 0)
		check_reply(&err);
	else
		check_merge(old, added);
	policy_unref(old);
	policy_unref(added);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_str_ struct str text = { 0 };
	struct arena arena = { 0 };
	struct request request, again;
	struct err err = { 0 };

	(void)reply_parse((const char *)data, size, &err);
	err = (struct err){ 0 };
	if (request_parse(&arena, (const char *)data, size, &request, &err) < 0) {
		check(err.code && err.msg[0]);
		check_reply(&err);
	} else {
		request_add(&text, &request);
		check(request_parse(&arena, text.s, text.len, &again, &err) == 0);
		check_same(&request.allow, &again.allow);
		check_same(&request.deny, &again.deny);
		use(&request);
		check_reply(NULL);
	}
	arena_release(&arena);
	return 0;
}
