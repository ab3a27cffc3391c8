/* SPDX-License-Identifier: MIT */
/* Patterns of file rules as a small automaton; see glob.h. */
#include "spec/glob.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "spec/glob_priv.h"

enum { WORDS = GLOB_MAX / 64 + 1 };

struct states {
	uint64_t w[WORDS];
};

/* What a byte is that belongs to no character. */
static size_t next_char(const char *s, uint32_t *ret_cp)
{
	size_t len = utf8_next(s, SIZE_MAX, ret_cp);

	if (len)
		return len;
	*ret_cp = 0x110000 + (unsigned char)*s;
	return 1;
}

const struct glob_fold glob_folds[] = {
	{ 0xdf, "ss" },    { 0x17f, "s" },   { 0x1e9e, "ss" }, { 0x212a, "k" },
	{ 0xfb00, "ff" },  { 0xfb01, "fi" }, { 0xfb02, "fl" }, { 0xfb03, "ffi" },
	{ 0xfb04, "ffl" }, { 0xfb05, "st" }, { 0xfb06, "st" },
};
const size_t glob_n_folds = ARRAY_LEN(glob_folds);

/* What cp is compared as: none where such a file system leaves it out, else up to three. */
static size_t fold_char(uint32_t cp, uint32_t ret[FOLD_MAX])
{
	size_t n = 0;

	ret[0] = cp >= 'A' && cp <= 'Z' ? cp + ('a' - 'A') : cp;
	if (cp < 0x80 || cp >= 0x110000)
		return 1;
	if (!utf8_visible(cp))
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(glob_folds); i++)
		if (glob_folds[i].cp == cp)
			for (; glob_folds[i].to[n]; n++)
				ret[n] = (unsigned char)glob_folds[i].to[n];
	return n ? n : 1;
}

static struct token *add_token(struct arena *arena, struct glob *glob, enum token_kind kind)
{
	struct token *token = arena_grow(arena, (void *)&glob->tokens, &glob->n,
					 sizeof(*glob->tokens));

	token->kind = kind;
	return token;
}

static void add_literal(struct arena *arena, struct glob *glob, uint32_t cp)
{
	uint32_t folded[FOLD_MAX] = { cp };
	size_t n = glob->fold ? fold_char(cp, folded) : 1;

	for (size_t i = 0; i < n; i++)
		add_token(arena, glob, LITERAL)->cp = folded[i];
}

static void add_range(struct arena *arena, struct range **ranges, size_t *n, struct range range)
{
	*(struct range *)arena_grow(arena, (void *)ranges, n, sizeof(range)) = range;
}

/* No set has the slash in it, whatever lies to both sides of it.
 * The length of the set that begins at s, 0 when it is plain text. With an arena its ranges are
 * added to token. */
static size_t parse_set(const char *s, struct arena *arena, struct token *token)
{
	const char *end = strchr(s, ']'), *p = s + 1;
	struct range *ranges = NULL;
	size_t n = 0;

	if (!end || end == p || memchr(p, '/', (size_t)(end - p)))
		return 0;
	while (p < end) {
		struct range range;

		p += next_char(p, &range.first);
		range.last = range.first;
		if (*p == '-' && p + 1 < end) {
			p++;
			p += next_char(p, &range.last);
		}
		if (range.last < range.first)
			return 0;
		if (arena && range.first < '/' && range.last > '/') {
			add_range(arena, &ranges, &n, (struct range){ range.first, '/' - 1 });
			range.first = '/' + 1;
		}
		if (arena)
			add_range(arena, &ranges, &n, range);
	}
	if (token) {
		token->ranges = ranges;
		token->n_ranges = n;
	}
	return (size_t)(end + 1 - s);
}

bool glob_is_special(const char *text)
{
	for (; *text; text++)
		if (*text == '*' || *text == '?' || (*text == '[' && parse_set(text, NULL, NULL)))
			return true;
	return false;
}

/* A run of stars: two before a '/' take it along, the others count in pairs from the left. */
static size_t add_stars(struct arena *arena, struct glob *glob, const char *s)
{
	size_t stars = strspn(s, "*"), len = stars;
	bool dirs = stars >= 2 && s[stars] == '/';

	for (stars -= dirs ? 2 : 0; stars; stars -= stars >= 2 ? 2 : 1)
		add_token(arena, glob, stars >= 2 ? DEEP : STAR);
	if (dirs)
		add_token(arena, glob, DIRS);
	return len + dirs;
}

static void add_tokens(struct arena *arena, struct glob *glob, const char *text, bool plain)
{
	struct token set = { .kind = SET };
	uint32_t cp;
	size_t len;

	for (const char *s = text; *s; s += len) {
		if (!plain && *s == '*') {
			len = add_stars(arena, glob, s);
		} else if (!plain && *s == '?') {
			add_token(arena, glob, ANY);
			len = 1;
		} else if (!plain && *s == '[' && (len = parse_set(s, arena, &set))) {
			*add_token(arena, glob, SET) = set;
		} else {
			len = next_char(s, &cp);
			add_literal(arena, glob, cp);
		}
	}
}

struct glob *glob_compile(struct arena *arena, const char *text, int flags, struct err *err)
{
	struct glob *glob = arena_alloc(arena, sizeof(*glob));
	bool plain = flags & GLOB_PLAIN || !glob_is_special(text);
	size_t len = strlen(text);
	char *own;

	/* Folding makes no text longer in bytes, and a token takes at least one. */
	if (len >= GLOB_MAX) {
		err_usage(err, "a pattern of %zu bytes is too long", len);
		return NULL;
	}
	own = arena_strdup(arena, text);
	while (!plain && len >= 3 && !strcmp(own + len - 3, "/**"))
		own[len -= 3] = '\0';
	while (len > 1 && own[len - 1] == '/')
		own[--len] = '\0';
	if (!len)
		own = arena_strdup(arena, "/");
	plain = plain || !glob_is_special(own);
	glob->fold = flags & GLOB_FOLD;
	if (plain && !glob->fold) {
		glob->literal = own;
		glob->literal_len = strlen(own);
	}
	add_tokens(arena, glob, own, plain);
	return glob;
}

const char *glob_literal(const struct glob *glob)
{
	return glob->literal;
}

static void enter(const struct glob *glob, struct states *states, size_t i)
{
	states->w[i / 64] |= UINT64_C(1) << i % 64;
	while (i < glob->n && glob->tokens[i].kind >= STAR) {
		i++;
		states->w[i / 64] |= UINT64_C(1) << i % 64;
	}
}

static bool set_has(const struct token *token, uint32_t cp)
{
	for (size_t i = 0; i < token->n_ranges; i++)
		if (cp >= token->ranges[i].first && cp <= token->ranges[i].last)
			return true;
	return false;
}

/* The same for a folded one: whatever folds to it may stand in the set. */
bool glob_set_has_folded(const struct token *token, uint32_t cp)
{
	if (set_has(token, cp) || (cp >= 'a' && cp <= 'z' && set_has(token, cp - ('a' - 'A'))))
		return true;
	for (size_t i = 0; i < glob_n_folds; i++)
		if ((unsigned char)glob_folds[i].to[0] == cp && !glob_folds[i].to[1] &&
		    set_has(token, glob_folds[i].cp))
			return true;
	return false;
}

/* Where state i goes when it meets cp. */
static void step_one(const struct glob *glob, size_t i, uint32_t cp, struct states *next)
{
	const struct token *token = &glob->tokens[i];

	switch (token->kind) {
	case LITERAL:
		if (token->cp == cp)
			enter(glob, next, i + 1);
		break;
	case ANY:
		if (cp != '/')
			enter(glob, next, i + 1);
		break;
	case SET:
		if (cp != '/' && (glob->fold ? glob_set_has_folded(token, cp) : set_has(token, cp)))
			enter(glob, next, i + 1);
		break;
	case STAR:
		if (cp != '/')
			enter(glob, next, i);
		break;
	case DEEP:
		enter(glob, next, i);
		break;
	case DIRS:
		next->w[i / 64] |= UINT64_C(1) << i % 64;
		if (cp == '/')
			enter(glob, next, i + 1);
		break;
	}
}

/* False when no state is left. */
static bool step(const struct glob *glob, struct states *states, uint32_t cp)
{
	size_t words = glob->n / 64 + 1;
	struct states next;
	uint64_t any = 0;

	memset(next.w, 0, words * sizeof(*next.w));
	for (size_t w = 0; w < words; w++)
		for (uint64_t left = states->w[w]; left; left &= left - 1) {
			size_t i = w * 64 + (size_t)__builtin_ctzll(left);

			if (i < glob->n)
				step_one(glob, i, cp, &next);
		}
	for (size_t w = 0; w < words; w++)
		any |= states->w[w] = next.w[w];
	return any;
}

static bool step_char(const struct glob *glob, struct states *states, uint32_t cp)
{
	uint32_t folded[FOLD_MAX] = { cp };
	size_t n = glob->fold ? fold_char(cp, folded) : 1;
	bool alive = true;

	for (size_t i = 0; i < n && alive; i++)
		alive = step(glob, states, folded[i]);
	return alive;
}

static void begin(const struct glob *glob, struct states *states)
{
	memset(states->w, 0, (glob->n / 64 + 1) * sizeof(*states->w));
	enter(glob, states, 0);
}

static bool accepts(const struct glob *glob, const struct states *states)
{
	return states->w[glob->n / 64] >> glob->n % 64 & 1;
}

/* The root is the one directory whose name ends in '/'. */
static bool is_boundary(const char *path, size_t at)
{
	return !path[at] || path[at] == '/' || (at == 1 && path[0] == '/');
}

static ssize_t cover_literal(const struct glob *glob, const char *path)
{
	size_t len = glob->literal_len;

	return !strncmp(path, glob->literal, len) && is_boundary(path, len) ? (ssize_t)len : -1;
}

ssize_t glob_cover(const struct glob *glob, const char *path)
{
	struct states states;
	ssize_t longest = -1;
	uint32_t cp;

	if (glob->literal)
		return cover_literal(glob, path);
	begin(glob, &states);
	for (size_t at = 0; path[at];) {
		at += next_char(path + at, &cp);
		if (!step_char(glob, &states, cp))
			break;
		if (is_boundary(path, at) && accepts(glob, &states))
			longest = (ssize_t)at;
	}
	return longest;
}

/* The states before the first character of a name in dir. */
static void states_below(const struct glob *glob, const char *dir, struct states *ret)
{
	uint32_t cp;

	begin(glob, ret);
	for (const char *s = dir; *s;) {
		s += next_char(s, &cp);
		if (!step_char(glob, ret, cp))
			return;
	}
	if (strcmp(dir, "/"))
		step_char(glob, ret, '/');
}

/* The literal names something in dir, or deeper. */
static bool leads_below(const struct glob *glob, const char *dir)
{
	size_t len = strcmp(dir, "/") ? strlen(dir) : 0;

	return !strncmp(glob->literal, dir, len) && glob->literal[len] == '/';
}

bool glob_same_below(const struct glob *glob, const char *from, const char *to)
{
	struct states a, b;

	if (glob->literal)
		return !strcmp(from, to) || (!leads_below(glob, from) && !leads_below(glob, to));
	states_below(glob, from, &a);
	states_below(glob, to, &b);
	return !memcmp(a.w, b.w, (glob->n / 64 + 1) * sizeof(*a.w));
}

char *glob_prefix(struct arena *arena, const char *text)
{
	size_t slash = 0;

	if (!glob_is_special(text))
		return arena_strdup(arena, text);
	for (size_t i = 0; text[i]; i++) {
		if (text[i] == '*' || text[i] == '?' ||
		    (text[i] == '[' && parse_set(text + i, NULL, NULL)))
			break;
		if (text[i] == '/')
			slash = i;
	}
	return slash ? arena_strndup(arena, text, slash) : arena_strdup(arena, "/");
}
