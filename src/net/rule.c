/* SPDX-License-Identifier: MIT */
/*
 * Reading one HOST[:PORT].
 *
 * A rule that means something else than its writer thought is worse than none, so what is not
 * plainly a name, a wildcard below a name, an address or a range is refused, and the hint says what
 * to write instead. Nothing here looks at the network.
 */
#include "net/policy.h"

#include <string.h>

#include "base/str.h"

enum { RULE_TEXT_MAX = 300 }; /* a longest name, a port, a wildcard */

/* A rule on its way from text to struct rule. */
struct reading {
	const char *text;
	const char *quoted; /* for messages */
	char host[RULE_TEXT_MAX];
	bool bracketed;
	unsigned flags;
};

static int refuse_bytes(const struct reading *in, struct err *err)
{
	const char *p = in->text;

	if (!*p)
		return err_usage(err, "a network rule is empty");
	if (strlen(p) >= RULE_TEXT_MAX)
		return err_usage(err, "network rule %s: too long for a host", in->quoted);
	for (; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (c >= 0x80) {
			err_usage(err, "network rule %s: not an ASCII name", in->quoted);
			return err_hint(
				err,
				"write the name as DNS has it, in punycode (xn--...): names that "
				"look alike must not pass for each other");
		}
		if (c <= ' ' || c == 0x7f)
			return err_usage(err, "network rule %s: a blank or control character",
					 in->quoted);
	}
	if (strstr(in->text, "://")) {
		err_usage(err, "network rule %s: a URL, not a host", in->quoted);
		return err_hint(err, "write the host and the port alone: example.com:443");
	}
	return 0;
}

/* 1 to 65535 without leading zeros. */
static int read_port(const struct reading *in, const char *text, uint16_t *ret, struct err *err)
{
	size_t digits = strspn(text, "0123456789");
	unsigned n = 0;

	for (size_t i = 0; i < digits && i < 6; i++) /* six are too many already */
		n = n * 10 + (unsigned)(text[i] - '0');
	if (digits < 1 || text[digits] || text[0] == '0' || n > 65535) {
		err_usage(err, "network rule %s: the port must be a number from 1 to 65535",
			  in->quoted);
		return err_hint(err, "leave ':PORT' away for every port");
	}
	*ret = (uint16_t)n;
	return 0;
}

/* "[v6]", "[v6/bits]", "[v6]/bits", each with ":PORT". */
static int split_brackets(struct reading *in, uint16_t *ret_port, struct err *err)
{
	const char *close = strchr(in->text, ']');
	const char *after = close ? close + 1 : NULL;
	size_t bits = after && *after == '/' ? strcspn(after, ":") : 0;

	if (!close || (after[bits] && after[bits] != ':') ||
	    !memchr(in->text, ':', (size_t)(close - in->text))) {
		err_usage(err, "network rule %s: brackets are for an IPv6 address", in->quoted);
		return err_hint(err, "[2001:db8::1], [2001:db8::1]:443 or [2001:db8::/32]:443");
	}
	(void)snprintf(in->host, sizeof(in->host), "%.*s%.*s", (int)(close - in->text - 1),
		       in->text + 1, (int)bits, after);
	in->bracketed = true;
	return after[bits] ? read_port(in, after + bits + 1, ret_port, err) : 0;
}

static int split(struct reading *in, uint16_t *ret_port, struct err *err)
{
	const char *colon = strchr(in->text, ':');

	*ret_port = 0;
	if (in->text[0] == '[')
		return split_brackets(in, ret_port, err);
	(void)snprintf(in->host, sizeof(in->host), "%s", in->text);
	if (!colon)
		return 0;
	if (strchr(colon + 1, ':')) {
		if (strchr(colon, '/'))
			return 0; /* "fd00::/8" cannot be misread */
		err_usage(err, "network rule %s: an IPv6 address must stand in brackets",
			  in->quoted);
		return err_hint(err, "[2001:db8::1] or [2001:db8::1]:443");
	}
	in->host[colon - in->text] = '\0';
	return read_port(in, colon + 1, ret_port, err);
}

static int read_range(const struct reading *in, struct rule *rule, struct err *err)
{
	char text[RANGE_TEXT];

	switch (range_parse(in->host, &rule->range)) {
	case RANGE_OK:
		break;
	case RANGE_LOOSE:
		err_usage(err, "network rule %s: the address has bits beyond its prefix",
			  in->quoted);
		return err_hint(err, "the range is %s", range_print(&rule->range, text));
	case RANGE_BAD:
		if (strchr(in->host, ':'))
			return err_usage(err, "network rule %s: no valid IPv6 address or range",
					 in->quoted);
		err_usage(err, "network rule %s: '/' is for ranges of addresses", in->quoted);
		return err_hint(err,
				"a host without a path (example.com), or a range (10.0.0.0/8)");
	}
	rule->kind = RULE_RANGE;
	rule->host = "";
	return 0;
}

static int refuse_name(const struct reading *in, const char *name, struct err *err)
{
	const char *bad = name + strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					      "0123456789-_.");

	if (*bad == '*') {
		err_usage(err, "network rule %s: '*' stands only at the beginning, as '*.'",
			  in->quoted);
		return err_hint(err, "*.example.com is every name below example.com");
	}
	if (*bad)
		return err_usage(err, "network rule %s: '%c' is in no host name", in->quoted, *bad);
	if (name[0] == '.') {
		err_usage(err, "network rule %s: begins with a dot", in->quoted);
		return err_hint(err, "*%.250s is every name below it", name);
	}
	if (strspn(name, "0123456789") && !name[strspn(name, "0123456789abcdefxABCDEFX.")])
		return err_usage(err, "network rule %s: neither a whole address nor a name",
				 in->quoted);
	return err_usage(
		err, "network rule %s: no host name (empty or too long label, or a number last)",
		in->quoted);
}

static int read_any(const struct reading *in, struct rule *rule, struct err *err)
{
	if (!(in->flags & RULE_DENY)) {
		err_usage(err, "network rule %s: allows every host", in->quoted);
		return err_hint(err, "--network open is the network without a filter");
	}
	rule->kind = RULE_ANY;
	rule->host = "";
	return 0;
}

static int read_name(const struct reading *in, struct arena *arena, struct rule *rule,
		     struct err *err)
{
	const char *host = in->host;
	char name[NAME_SIZE];

	rule->kind = RULE_NAME;
	if (str_starts(host, "*.")) {
		rule->kind = RULE_BELOW;
		host += 2;
	}
	if (!name_canonical(host, strlen(host), name))
		return refuse_name(in, host, err);
	if (rule->kind == RULE_BELOW && !strchr(name, '.')) {
		err_usage(err, "network rule %s: covers a whole top-level domain", in->quoted);
		return err_hint(err, "name the domain: *.example.%s", name);
	}
	rule->host = arena_strdup(arena, name);
	return 0;
}

static int read_rule(struct reading *in, struct arena *arena, struct rule *rule, struct err *err)
{
	struct address addr;
	int r;

	if ((in->flags & RULE_DENY) && (in->flags & RULE_PRIVATE))
		return err_usage(err, "network rule %s: only an allow rule can be private",
				 in->quoted);
	r = refuse_bytes(in, err);
	if (r == 0)
		r = split(in, &rule->port, err);
	if (r < 0)
		return r;
	if (!strcmp(in->host, "*"))
		r = read_any(in, rule, err);
	else if (in->bracketed || strchr(in->host, '/') || address_parse(in->host, &addr))
		r = read_range(in, rule, err);
	else
		r = read_name(in, arena, rule, err);
	if (r < 0)
		return r;
	rule->text = arena_strdup(arena, in->text);
	rule->flags = in->flags;
	return 0;
}

int rule_parse(struct arena *arena, const char *text, unsigned flags, struct rule *ret,
	       struct err *err)
{
	_cleanup_str_ struct str quoted = { 0 };
	struct reading in = { .text = text, .flags = flags };
	struct rule rule = { 0 };
	int r;

	in.quoted = str_quote(&quoted, text);
	r = read_rule(&in, arena, &rule, err);
	if (r == 0)
		*ret = rule;
	return r;
}
