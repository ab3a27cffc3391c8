/* SPDX-License-Identifier: MIT */
/* What a package tool says it downloads from: hosts with a port, each of which is a rule for that and no more; kept as lines and
 * read again they are the same. */
#include <string.h>

#include "base/str.h"
#include "net/policy.h"
#include "spec/registry.h"
#include "fuzz.h"

static void check_rule(struct arena *arena, const char *text)
{
	struct err err;
	struct rule rule;

	check(rule_parse(arena, text, 0, &rule, &err) == 0);
	check(rule.port && (rule.kind == RULE_NAME || rule.kind == RULE_RANGE));
	check(rule.port == strtoul(strrchr(text, ':') + 1, NULL, 10));
	check(rule.kind == RULE_NAME || rule.range.bits == 128); /* one address, of either kind */
}

static void scan(const char *text, bool bare)
{
	_cleanup_str_ struct str lines = { 0 };
	struct arena arena = { 0 };
	struct strv found = { 0 }, again = { 0 };

	str_add(&lines, "");
	registry_scan(&arena, text, bare, &found);
	for (size_t i = 0; i < found.len; i++) {
		check_rule(&arena, found.v[i]);
		str_addf(&lines, "%s\n", found.v[i]);
	}
	registry_scan(&arena, lines.s, true, &again);
	check(again.len == found.len);
	for (size_t i = 0; i < found.len; i++)
		check(!strcmp(found.v[i], again.v[i]));
	arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = strndup((const char *)data, size);

	check(text);
	scan(text, false);
	scan(text, true);
	return 0;
}
