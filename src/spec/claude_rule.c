/* SPDX-License-Identifier: MIT */
/* Permission rules as "Bash(git:*)" or "WebFetch(domain:x.org)", and paths in settings. */
#include <ctype.h>
#include <string.h>

#include "base/path.h"
#include "spec/claude.h"

bool claude_rule_parse(struct arena *arena, const char *text, struct claude_rule *ret)
{
	const char *open = strchr(text, '(');
	size_t len = strlen(text), name = open ? (size_t)(open - text) : len;

	if (!name || (open && text[len - 1] != ')'))
		return false;
	for (size_t i = 0; i < name; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("_-*.:", text[i]))
			return false;
	*ret = (struct claude_rule){ .tool = arena_strndup(arena, text, name) };
	if (open)
		ret->what = arena_strndup(arena, open + 1, len - name - 2);
	if (ret->what && (!*ret->what || !strcmp(ret->what, "*")))
		ret->what = NULL; /* Tool() and Tool(*) are the whole tool */
	return true;
}

/* '*' is any text, "\*" is itself. One place to go back to is enough. */
static bool wildcard(const char *pattern, const char *text)
{
	const char *back = NULL, *from = NULL;

	while (*text) {
		if (*pattern == '*') {
			back = ++pattern;
			from = text;
			continue;
		}
		if (pattern[0] == '\\' && pattern[1] == '*' && *text == '*') {
			pattern += 2;
			text++;
		} else if (*pattern == *text) {
			pattern++;
			text++;
		} else if (back) {
			pattern = back;
			text = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

/* The command itself, or the command with more words. */
static bool begins(const char *text, const char *prefix, size_t len)
{
	return !strncmp(text, prefix, len) && (!text[len] || strchr(" \t\n", text[len]));
}

bool claude_rule_covers(const char *what, const char *text)
{
	size_t len = strlen(what);

	if (len > 2 && !strcmp(what + len - 2, ":*"))
		return begins(text, what, len - 2);
	/* "git *" is "git" with or without more. */
	if (len > 2 && !strcmp(what + len - 2, " *") && !memchr(what, '*', len - 1))
		return begins(text, what, len - 2);
	return wildcard(what, text);
}

/* What a leading '/' or nothing at all means in a file of that scope. */
static const char *root_of(enum claude_scope scope, const struct claude_place *place)
{
	if (scope == CLAUDE_USER)
		return place->config;
	if (scope == CLAUDE_FLAG && place->flag_dir)
		return place->flag_dir;
	return place->project;
}

/* Two stars or a slash behind a directory say nothing more than its name. */
static char *without_tail(struct arena *arena, const char *text)
{
	size_t len = strlen(text);

	while (len > 1 && text[len - 1] == '/')
		len--;
	while (len > 3 && !strncmp(text + len - 3, "/**", 3)) {
		len -= 3;
		while (len > 1 && text[len - 1] == '/')
			len--;
	}
	return arena_strndup(arena, text, len);
}

static const char *after_home(const char *text)
{
	if (text[0] != '~' || (text[1] && text[1] != '/'))
		return NULL;
	return text[1] ? text + 2 : ".";
}

/* A path of a permission rule: "//x" is absolute, "/x" begins at the file's root, a bare name
 * stands for itself at any depth. */
static char *rule_path(struct arena *arena, const char *text, enum claude_scope scope,
		       const struct claude_place *place)
{
	const char *tail = without_tail(arena, text), *home = after_home(tail);

	if (home)
		return path_join(arena, place->home, home);
	if (tail[0] == '/' && tail[1] == '/')
		return path_join(arena, "/", tail + 1);
	if (tail[0] == '/')
		return path_join(arena, root_of(scope, place), tail + 1);
	if (!strchr(tail, '/') && strcmp(tail, ".") && strcmp(tail, "..") && strcmp(tail, "**"))
		return arena_printf(arena, "%s/**/%s",
				    strcmp(place->project, "/") ? place->project : "", tail);
	return path_join(arena, place->project, tail);
}

char *claude_path(struct arena *arena, const char *text, enum claude_scope scope,
		  const struct claude_place *place)
{
	const char *tail = without_tail(arena, text), *home = after_home(tail);

	if (home)
		return path_join(arena, place->home, home);
	if (tail[0] == '/')
		return path_join(arena, "/", tail);
	return path_join(arena, root_of(scope, place), tail);
}

static const struct {
	const char *tool, *list;
	enum claude_effect effect;
} effects[] = {
	{ "Edit", "allow", CLAUDE_EFFECT_ALLOW_WRITE },
	{ "Edit", "deny", CLAUDE_EFFECT_DENY_WRITE },
	/* Rules of the other tools that write only tighten. */
	{ "Write", "deny", CLAUDE_EFFECT_DENY_WRITE },
	{ "MultiEdit", "deny", CLAUDE_EFFECT_DENY_WRITE },
	{ "NotebookEdit", "deny", CLAUDE_EFFECT_DENY_WRITE },
	{ "Read", "deny", CLAUDE_EFFECT_DENY_READ },
	{ "WebFetch", "allow", CLAUDE_EFFECT_ALLOW_DOMAIN },
	{ "WebFetch", "deny", CLAUDE_EFFECT_DENY_DOMAIN },
};

enum claude_effect claude_rule_effect(struct arena *arena, const struct claude_rule *rule,
				      const char *list, const struct claude_place *place,
				      const char **ret)
{
	for (size_t i = 0; rule->what && i < ARRAY_LEN(effects); i++) {
		enum claude_effect effect = effects[i].effect;

		if (strcmp(effects[i].tool, rule->tool) || strcmp(effects[i].list, list))
			continue;
		if (effect < CLAUDE_EFFECT_ALLOW_DOMAIN) {
			*ret = rule_path(arena, rule->what, rule->value->scope, place);
			return effect;
		}
		if (strncmp(rule->what, "domain:", 7) || !rule->what[7])
			return CLAUDE_EFFECT_NONE;
		*ret = rule->what + 7;
		return effect;
	}
	return CLAUDE_EFFECT_NONE;
}
