/* SPDX-License-Identifier: MIT */
/* JSON as text: strings, lists of them, members. No part of json-c is linked for it. */
#include "base/json.h"

static void add_u(struct str *out, uint32_t cp)
{
	if (cp >= 0x10000) {
		add_u(out, 0xd800 + ((cp - 0x10000) >> 10));
		cp = 0xdc00 + ((cp - 0x10000) & 0x3ff);
	}
	str_addf(out, "\\u%04x", cp);
}

void json_add_string(struct str *out, const char *s)
{
	str_add(out, "\"");
	while (*s) {
		uint32_t cp = 0;
		size_t n = utf8_next(s, SIZE_MAX, &cp);

		if (!n)
			add_u(out, 0xdc00 + (unsigned char)*s);
		else if (cp == '"' || cp == '\\')
			str_addf(out, "\\%c", *s);
		else if (cp == '\n')
			str_add(out, "\\n");
		else if (cp == '\t')
			str_add(out, "\\t");
		else if (!utf8_visible(cp))
			add_u(out, cp);
		else
			str_addn(out, s, n);
		s += MAX(n, (size_t)1);
	}
	str_add(out, "\"");
}

void json_add_strings(struct str *out, const struct strv *list)
{
	str_add(out, "[");
	for (size_t i = 0; i < list->len; i++) {
		str_add(out, i ? ", " : "");
		json_add_string(out, list->v[i]);
	}
	str_add(out, "]");
}

void json_add_key(struct str *out, const char *key)
{
	str_addf(out, "%s\"%s\":", out->len && out->s[out->len - 1] != '{' ? "," : "", key);
}

void json_add_member(struct str *out, const char *key, const char *value)
{
	if (!value)
		return;
	json_add_key(out, key);
	json_add_string(out, value);
}

void json_add_count(struct str *out, const char *key, uint64_t value)
{
	json_add_key(out, key);
	str_addf(out, "%llu", (unsigned long long)value);
}
