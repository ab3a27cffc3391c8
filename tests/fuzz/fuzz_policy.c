/* SPDX-License-Identifier: MIT */
/*
 * Lines: '+' allow, '!' allow private, '-' deny, '=' deny resolved; each other line is a host and is
 * asked for. What is decided is compared with the rules' meaning, read rule by rule.
 */
#include "net/policy.h"
#include "fuzz.h"

#include <errno.h>
#include <string.h>

/* A rule written again from what was understood means the same. */
static void check_again(const struct rule *rule)
{
	struct arena arena = { 0 };
	struct err err = { 0 };
	struct rule again;
	char range[RANGE_TEXT], port[8] = "";
	const char *text;

	for (const char *p = rule->text; *p; p++)
		check(*p > ' ' && *p < 0x7f);
	if (rule->port)
		(void)snprintf(port, sizeof(port), ":%u", rule->port);
	range_print(&rule->range, range);
	text = arena_printf(&arena,
			    rule->kind == RULE_NAME    ? "%s%s"
			    : rule->kind == RULE_BELOW ? "*.%s%s"
			    : rule->kind == RULE_ANY   ? "*%s%s"
			    : strchr(range, ':')       ? "[%s]%s"
						       : "%s%s",
			    rule->kind == RULE_RANGE ? range : rule->host, port);
	check(rule_parse(&arena, text, rule->flags, &again, &err) == 0);
	check(again.kind == rule->kind && again.port == rule->port &&
	      !strcmp(again.host, rule->host));
	check(rule->kind != RULE_RANGE || (again.range.bits == rule->range.bits &&
					   address_equal(&again.range.base, &rule->range.base)));
	arena_release(&arena);
}

static void add_line(struct policy *policy, const char *line)
{
	struct err err = { 0 };
	size_t n = policy->n_rules;
	int r;

	if (*line == '=') {
		r = policy_deny_resolved(policy, line + 1, &err);
	} else {
		r = policy_add(policy, line + 1,
			       *line == '-'   ? RULE_DENY
			       : *line == '!' ? RULE_PRIVATE
					      : 0,
			       &err);
		check(policy->n_rules == n + (r == 0));
		if (r == 0)
			check_again(policy->rules[n]);
	}
	if (r < 0)
		check_refusal(r, &err);
}

static bool is_for(const struct rule *rule, const char *name)
{
	return rule->kind == RULE_ANY || (rule->kind == RULE_NAME && !strcmp(rule->host, name)) ||
	       (rule->kind == RULE_BELOW && name_is_below(name, rule->host));
}

static bool plain_connect(const struct policy *policy, const char *name, unsigned port)
{
	bool allow = false;

	for (size_t i = 0; i < policy->n_rules; i++) {
		const struct rule *rule = policy->rules[i];

		if (!is_for(rule, name) || (rule->port && rule->port != port))
			continue;
		if (rule->flags & RULE_DENY)
			return false;
		allow = true;
	}
	return allow;
}

static void ask_name(const struct policy *policy, const char *name)
{
	static const unsigned more[] = { 1, 80, 443, 65535 };
	bool any = false;

	for (size_t i = 0; i < policy->n_rules + ARRAY_LEN(more); i++) {
		unsigned port = i < policy->n_rules ? policy->rules[i]->port
						    : more[i - policy->n_rules];
		struct verdict v = policy_connect(policy, name, (uint16_t)port);

		if (!port)
			continue;
		check(v.allow == plain_connect(policy, name, port));
		check(v.allow == (v.reason == NET_ALLOWED));
		any = any || v.allow;
		if (v.rule)
			check(is_for(v.rule, name) &&
			      !(v.rule->flags & RULE_DENY) == (v.reason != NET_DENIED_NAME));
	}
	/* More ports are asked for here than rules can close one by one. */
	for (unsigned port = 2; port < 66 && !any; port++)
		any = policy_connect(policy, name, (uint16_t)port).allow;
	check(!any || policy_name(policy, name).allow);
	check(any || !policy_name(policy, name).allow || policy->n_rules > 60);
}

static void ask_address(const struct policy *policy, const struct address *addr)
{
	struct verdict v = policy_address(policy, addr, 443);
	bool allowed = false, denied = false;

	for (size_t i = 0; i < policy->n_rules; i++) {
		const struct rule *rule = policy->rules[i];
		bool here = !rule->port || rule->port == 443;

		if (rule->kind == RULE_ANY && here)
			denied = true;
		if (rule->kind != RULE_RANGE || !range_has(&rule->range, addr) || !here)
			continue;
		if (rule->flags & RULE_DENY)
			denied = true;
		else
			allowed = true;
	}
	check(!v.allow || (allowed && !denied));
	if (allowed && !denied && address_guarded(&policy->guard, addr, NULL) == ADDRESS_PUBLIC) {
		struct address inner;

		check(v.allow || address_embedded(addr, &inner));
	}
}

static void ask(const struct policy *policy, const char *line)
{
	char name[NAME_SIZE], again[NAME_SIZE], text[ADDRESS_TEXT];
	struct address addr, same;

	if (address_parse(line, &addr)) {
		check(!name_canonical(line, strlen(line), name));
		check(address_parse(address_print(&addr, text), &same));
		check(address_equal(&addr, &same));
		ask_address(policy, &addr);
	} else if (name_canonical(line, strlen(line), name)) {
		check(name_canonical(name, strlen(name), again) && !strcmp(name, again));
		ask_name(policy, name);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct policy *policy = policy_new();
	char *text = calloc(1, size + 1), *save = NULL;

	check(text && policy);
	if (size)
		memcpy(text, data, size);
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (strchr("+-=!", *line))
			add_line(policy, line);
		else
			ask(policy, line);
	}
	free(text);
	policy_unref(policy);
	return 0;
}
