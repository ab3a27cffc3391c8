/* SPDX-License-Identifier: MIT */
/*
 * A small reader of the language of Seatbelt's profiles, and what a profile says about a path. It knows
 * what its manual page and the profiles of macOS show; the last rule that matches decides.
 */
#pragma once

#include <ctype.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"

struct node {
	char *atom;  /* NULL: a list */
	bool quoted; /* it was a string */
	struct node *child, *next;
	regex_t regex;
	bool compiled;
};

static struct node *read_node(struct arena *arena, const char **p);

static char *read_atom(struct arena *arena, const char **p, bool *ret_quoted)
{
	_cleanup_str_ struct str text = { 0 };

	*ret_quoted = **p == '"';
	if (*ret_quoted) {
		for ((*p)++; **p && **p != '"'; (*p)++) {
			if (**p == '\\')
				(*p)++;
			str_addn(&text, *p, 1);
		}
		if (**p)
			(*p)++;
	} else {
		while (**p && !strchr("() \n\"", **p))
			str_addn(&text, (*p)++, 1);
	}
	return arena_strdup(arena, text.s ? text.s : "");
}

static void skip_blanks(const char **p)
{
	while (**p && (isspace((unsigned char)**p) || **p == ';')) {
		if (**p == ';')
			*p += strcspn(*p, "\n");
		else
			(*p)++;
	}
}

/* NULL at the end of a list or of the text. */
static struct node *read_node(struct arena *arena, const char **p)
{
	struct node *node, **last;

	skip_blanks(p);
	if (!**p || **p == ')')
		return NULL;
	node = arena_alloc(arena, sizeof(*node));
	if (**p != '(') {
		node->atom = read_atom(arena, p, &node->quoted);
		return node;
	}
	(*p)++;
	last = &node->child;
	while ((*last = read_node(arena, p)))
		last = &(*last)->next;
	if (**p == ')')
		(*p)++;
	return node;
}

static bool below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return !strcmp(dir, "/") || (!strncmp(path, dir, n) && (!path[n] || path[n] == '/'));
}

static bool matches(struct node *filter, const char *path)
{
	const char *kind = filter->child->atom;
	struct node *value = filter->child->next;

	if (!strcmp(kind, "subpath"))
		return below(path, value->atom);
	if (!strcmp(kind, "literal"))
		return !strcmp(path, value->atom);
	if (!strcmp(kind, "regex")) {
		if (!value->compiled &&
		    regcomp(&value->regex, value->atom, REG_EXTENDED | REG_NOSUB)) {
			printf("# not an expression: %s\n", value->atom);
			exit(1);
		}
		value->compiled = true;
		return regexec(&value->regex, path, 0, NULL, 0) == 0;
	}
	return false; /* of something else than paths */
}

/* A word of a rule: the operation itself, or "file-write*" for all of its kind. */
static bool covers(const char *word, const char *operation)
{
	size_t n = strlen(word);

	return !strcmp(word, operation) ||
	       (n && word[n - 1] == '*' && !strncmp(word, operation, n - 1));
}

/* Of all rules for the operation that match, the last one decides. */
__attribute__((unused)) static bool allows(struct node *profile, const char *operation,
					   const char *path)
{
	bool allowed = false;

	for (struct node *rule = profile; rule; rule = rule->next) {
		struct node *word = rule->child->next;
		bool about = false, any = true, match = false;

		for (; word && word->atom; word = word->next)
			about |= covers(word->atom, operation);
		for (; about && word; word = word->next) {
			any = false;
			match |= matches(word, path);
		}
		if (about && (any || match))
			allowed = !strcmp(rule->child->atom, "allow");
	}
	return allowed;
}

static struct node *read_profile(struct arena *arena, const char **text)
{
	struct node *first = NULL, **last = &first;

	while ((*last = read_node(arena, text)))
		last = &(*last)->next;
	return first;
}
