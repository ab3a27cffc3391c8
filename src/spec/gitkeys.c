/* SPDX-License-Identifier: MIT */
/*
 * The reader of git's configuration files. Whoever wrote the file is an attacker: where git and
 * this reader might differ, the file is refused. Byte order marks, control characters, values over
 * the cap and names over a length are such cases; included files are keys like others, and are not
 * on the list of gitkeys_allow.c.
 */
#include "spec/gitkeys.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "spec/gitkeys_allow.h"

#define NAME_MAX_LEN 512
#define VALUE_MAX_LEN 4096
#define KEYS_MAX 5000

struct reader {
	struct arena *arena;
	const char *p, *end;
	char section[NAME_MAX_LEN + 1]; /* with the subsection: "branch.Feature" */
	const char *only;               /* this name; NULL: all */
	struct gitkeys *keys;
};

/* As git has it: "\r\n" is a line's end. 0 at the end of the text. */
static int peek(const struct reader *r)
{
	if (r->p == r->end)
		return 0;
	if (*r->p == '\r' && r->p + 1 < r->end && r->p[1] == '\n')
		return '\n';
	return (unsigned char)*r->p;
}

static int next(struct reader *r)
{
	int c = peek(r);

	if (r->p < r->end)
		r->p += c == '\n' && *r->p == '\r' ? 2 : 1;
	return c;
}

/* A '\r' by itself as well; a line's end was looked for before. */
static bool is_blank(int c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blank(struct reader *r)
{
	while (peek(r) == ' ' || peek(r) == '\t')
		next(r);
}

static bool add_char(char *buf, size_t *len, int c)
{
	if (*len >= NAME_MAX_LEN)
		return false;
	buf[(*len)++] = (char)c;
	buf[*len] = '\0';
	return true;
}

/* After '[': "section]", "section.sub]" or "section "Sub"]". */
static int read_section(struct reader *r)
{
	size_t n = 0;
	int c;

	while ((c = next(r)) && (isalnum(c) || c == '-' || c == '.'))
		if (!add_char(r->section, &n, tolower(c)))
			return -EINVAL;
	if (n == 0 || c == ']')
		return n == 0 ? -EINVAL : 0;
	if (c != ' ' && c != '\t')
		return -EINVAL;
	skip_blank(r);
	if (next(r) != '"' || !add_char(r->section, &n, '.'))
		return -EINVAL;
	while ((c = next(r)) && c != '"') {
		if (c == '\\')
			c = next(r);
		if (!c || c == '\n' || !add_char(r->section, &n, c))
			return -EINVAL;
	}
	return c == '"' && next(r) == ']' ? 0 : -EINVAL;
}

static int unescape(int c)
{
	static const char pairs[] = "n\nt\tb\b\"\"\\\\";

	for (const char *p = pairs; *p; p += 2)
		if (*p == c)
			return (unsigned char)p[1];
	return 0;
}

static int read_value(struct reader *r, char value[VALUE_MAX_LEN + 1])
{
	size_t n = 0, keep = 0;
	bool quoted = false, comment = false;
	int c;

	while ((c = next(r)) && c != '\n') {
		bool blank = !quoted && is_blank(c);

		comment = comment || (!quoted && (c == '#' || c == ';'));
		if (comment || (blank && n == 0)) /* also after "" */
			continue;
		if (!blank)
			keep = n; /* a quote or a backslash holds the blanks before it */
		if (c == '"') {
			quoted = !quoted;
			continue;
		}
		if (c == '\\') {
			c = next(r);
			if (c == '\n' || (!c && r->p == r->end))
				continue;
			c = unescape(c);
		}
		if (!c || n >= VALUE_MAX_LEN)
			return -EINVAL;
		value[n++] = (char)c;
		if (!blank)
			keep = n;
	}
	value[keep] = '\0';
	return quoted ? -EINVAL : 0;
}

static bool is_wanted(const struct reader *r, const char *name)
{
	size_t n = strlen(r->section);

	return !r->only || (str_starts(r->only, r->section) && r->only[n] == '.' &&
			    !strcmp(r->only + n + 1, name));
}

static int read_key(struct reader *r)
{
	char name[NAME_MAX_LEN + 1] = "", value[VALUE_MAX_LEN + 1] = "true";
	struct gitkey *key;
	size_t n = 0;
	int e = 0;

	while (isalnum(peek(r)) || peek(r) == '-')
		if (!add_char(name, &n, tolower(next(r))))
			return -EINVAL;
	if (!isalpha((unsigned char)name[0]) || !*r->section || r->keys->n >= KEYS_MAX)
		return -EINVAL;
	skip_blank(r);
	if (peek(r) == '=') {
		next(r);
		e = read_value(r, value);
	} else if (peek(r) != '\n' && peek(r) != 0) {
		return -EINVAL;
	}
	if (e < 0 || !is_wanted(r, name))
		return e;
	key = arena_grow(r->arena, (void *)&r->keys->keys, &r->keys->n, sizeof(*key));
	key->name = arena_printf(r->arena, "%s.%s", r->section, name);
	key->value = arena_strdup(r->arena, value);
	return 0;
}

static void skip_line(struct reader *r)
{
	while (peek(r) && peek(r) != '\n')
		next(r);
}

/* A blank, a comment, a section or a key. */
static int read_one(struct reader *r)
{
	int e;

	switch (peek(r)) {
	case ' ':
	case '\t':
	case '\r':
	case '\n':
		next(r);
		return 0;
	case '#':
	case ';':
		skip_line(r);
		return 0;
	case '[':
		next(r);
		r->section[0] = '\0';
		e = read_section(r);
		if (e < 0)
			r->section[0] = '\0'; /* what follows is nobody's */
		return e;
	default:
		return read_key(r);
	}
}

int gitkeys_parse(struct arena *arena, const char *text, size_t len, struct gitkeys *ret)
{
	struct reader r = { .arena = arena, .p = text, .end = text + len, .keys = ret };
	int e = 0;

	*ret = (struct gitkeys){ 0 };
	if (len > GITKEYS_MAX)
		return -EINVAL;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == 0x7f || (c < ' ' && c != '\t' && c != '\n' &&
				  !(c == '\r' && i + 1 < len && text[i + 1] == '\n')))
			return -EINVAL;
	}
	while (e == 0 && r.p < r.end)
		e = read_one(&r);
	return e;
}

static void gather(struct arena *arena, const char *text, size_t len, const char *only,
		   struct gitkeys *ret)
{
	static const char mark[] = "\xef\xbb\xbf";
	size_t skip = len >= 3 && !memcmp(text, mark, 3) ? 3 : 0;
	struct reader r = {
		.arena = arena, .p = text + skip, .end = text + len, .only = only, .keys = ret
	};

	*ret = (struct gitkeys){ 0 };
	while (r.p < r.end) {
		if (read_one(&r) == 0)
			continue;
		skip_line(&r);
		r.p += r.p < r.end; /* also where that is a NUL */
	}
}

void gitkeys_gather(struct arena *arena, const char *text, size_t len, struct gitkeys *ret)
{
	gather(arena, text, len, NULL, ret);
}

const char *gitkeys_last(struct arena *arena, const char *text, size_t len, const char *name)
{
	struct gitkeys keys;

	gather(arena, text, len, name, &keys);
	return keys.n ? keys.keys[keys.n - 1].value : NULL;
}

/* The i-th value of a name. */
static const char *value_of(const struct gitkeys *keys, const char *name, size_t i)
{
	for (size_t k = 0; k < keys->n; k++)
		if (!strcmp(keys->keys[k].name, name) && i-- == 0)
			return keys->keys[k].value;
	return NULL;
}

/* git obeys the last of several values, so their order counts as well. */
static bool same_values(const struct gitkeys *a, const struct gitkeys *b, const char *name)
{
	for (size_t i = 0;; i++) {
		const char *x = value_of(a, name, i), *y = value_of(b, name, i);

		if (!x && !y)
			return true;
		if (!x || !y || strcmp(x, y) != 0)
			return false;
	}
}

/* Each name is compared once, at its first key. */
bool gitkeys_is_first(const struct gitkeys *keys, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(keys->keys[k].name, keys->keys[i].name))
			return false;
	return true;
}

static const char *refusal(struct arena *arena, const char *what, const char *name)
{
	_cleanup_str_ struct str quoted = { 0 };

	return arena_printf(arena, "git's %s may not be %s%s", str_quote(&quoted, name), what,
			    str_starts(name, "remote.")
				    ? ": where your git goes is said outside of the sandbox"
				    : "");
}

static const char *check_key(struct arena *arena, const struct gitkeys *old,
			     const struct gitkeys *new, const char *name, const char *gitdir)
{
	const char *value = value_of(new, name, 0);
	bool was_there = value_of(old, name, 0) != NULL;

	if (same_values(old, new, name))
		return NULL;
	if (!value)
		return gitkeys_may_remove(name) ? NULL : refusal(arena, "removed", name);
	for (size_t i = 0; (value = value_of(new, name, i)) != NULL; i++)
		if (!gitkeys_may_set(arena, new, name, value, was_there, gitdir))
			return refusal(arena, "set to that here", name);
	return NULL;
}

const char *gitkeys_check(struct arena *arena, const char *old, size_t old_len, const char *new,
			  size_t new_len, const char *gitdir)
{
	struct gitkeys before, after;
	const char *why = NULL;

	if (old_len == new_len && !memcmp(old, new, new_len))
		return NULL;
	if (gitkeys_parse(arena, new, new_len, &after) < 0)
		return "it is not a plain git configuration";
	if (gitkeys_parse(arena, old, old_len, &before) < 0)
		return "the present one cannot be compared with";
	for (size_t i = 0; i < after.n && !why; i++)
		if (gitkeys_is_first(&after, i))
			why = check_key(arena, &before, &after, after.keys[i].name, gitdir);
	for (size_t i = 0; i < before.n && !why; i++)
		if (gitkeys_is_first(&before, i))
			why = check_key(arena, &before, &after, before.keys[i].name, gitdir);
	return why;
}
