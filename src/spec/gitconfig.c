/* SPDX-License-Identifier: MIT */
/* One value out of a git configuration file. */
#include "spec/gitconfig.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"

static const char *skip_blank(const char *p)
{
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

/* What a backslash and this letter mean; 0 for nothing git knows. */
static char unescaped(char letter)
{
	static const char pairs[] = "n\nt\tb\b\"\"\\\\";

	for (const char *p = pairs; *p; p += 2)
		if (*p == letter)
			return p[1];
	return 0;
}

/* After '=': quotes, escapes, comments and continued lines as git reads them. */
static char *parse_value(struct arena *arena, const char *p)
{
	_cleanup_str_ struct str out = { 0 };
	size_t keep = 0; /* trailing blanks outside quotes do not count */
	bool quoted = false;

	for (p = skip_blank(p); *p && *p != '\n'; p++) {
		if (*p == '"') {
			quoted = !quoted;
			continue;
		}
		if (!quoted && (*p == '#' || *p == ';'))
			break;
		if (*p == '\\') {
			char c = unescaped(*++p);

			if (*p == '\n')
				continue;
			if (!c)
				return NULL;
			str_addn(&out, &c, 1);
		} else if (*p != '\r' || p[1] != '\n') {
			str_addn(&out, p, 1);
		}
		if (quoted || !isspace((unsigned char)*p))
			keep = out.len;
	}
	return quoted ? NULL : arena_strndup(arena, out.s ? out.s : "", keep);
}

static bool word_is(const char *p, size_t len, const char *word)
{
	return strlen(word) == len && !strncasecmp(p, word, len);
}

/* After '[': 'section]' or 'section "sub"]'; *ret_end is behind it. */
static bool header_is(const char *p, const char *section, const char *sub, const char **ret_end)
{
	size_t len = strcspn(p, " \t\"].\n");
	bool match = word_is(p, len, section);

	*ret_end = p + len;
	if (sub) {
		size_t n = strlen(sub);

		p = skip_blank(p + len);
		match = match && p[0] == '"' && !strncmp(p + 1, sub, n) && p[1 + n] == '"';
		*ret_end = match ? p + n + 2 : *ret_end;
	}
	if (**ret_end != ']')
		return false;
	(*ret_end)++;
	return match;
}

char *gitconfig_get(struct arena *arena, const char *text, const char *section, const char *key)
{
	return gitconfig_get_in(arena, text, section, NULL, key);
}

char *gitconfig_get_in(struct arena *arena, const char *text, const char *section, const char *sub,
		       const char *key)
{
	bool inside = false;
	char *found = NULL;

	for (const char *line = text; *line;) {
		const char *p = skip_blank(line), *value;
		size_t len;

		if (*p == '[') {
			inside = header_is(p + 1, section, sub, &p);
			p = skip_blank(p);
		}
		len = strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
		value = skip_blank(p + len);
		if (inside && *value == '=' && word_is(p, len, key)) {
			char *parsed = parse_value(arena, value + 1);

			found = parsed ? parsed : found;
		}
		/* A line goes on after a backslash at its end. */
		do
			line += strcspn(line, "\n") + (strchr(line, '\n') != NULL);
		while (*line && line - text >= 2 && line[-2] == '\\');
	}
	return found;
}

char *gitconfig_quote(struct arena *arena, const char *value)
{
	_cleanup_str_ struct str out = { 0 };

	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			str_add(&out, "\\");
		if (*value == '\n')
			str_add(&out, "\\n");
		else if ((unsigned char)*value >= ' ')
			str_addn(&out, value, 1);
	}
	return arena_strdup(arena, out.s ? out.s : "");
}
