/* SPDX-License-Identifier: MIT */
/* Patterns of file rules as extended regular expressions. */
#include <string.h>

#include "base/str.h"
#include "spec/glob_priv.h"

/* A byte that belongs to no character is itself. */
static void add_codepoint(struct str *out, uint32_t cp)
{
	if (cp >= 0x110000)
		str_addn(out, &(char){ (char)(cp - 0x110000) }, 1);
	else
		str_add_utf8(out, cp);
}

static void add_char(struct str *out, uint32_t cp)
{
	if (cp < 0x80 && strchr("\\.[]{}()*+?^$|", (int)cp))
		str_add(out, "\\");
	add_codepoint(out, cp);
}

void regex_add_literal(struct str *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\.[]{}()*+?^$|", *text))
			str_add(out, "\\");
		str_addn(out, text, 1);
	}
}

/* In a bracket expression nothing can be escaped: what means something there stands alone. */
static bool stands_alone(uint32_t cp)
{
	return cp < 0x80 && strchr("^\\-[]", (int)cp);
}

static void add_range(struct str *out, struct range range)
{
	for (; range.first < range.last && stands_alone(range.first); range.first++) {
		add_char(out, range.first);
		str_add(out, "|");
	}
	for (; range.first < range.last && stands_alone(range.last); range.last--) {
		add_char(out, range.last);
		str_add(out, "|");
	}
	if (range.first == range.last) {
		add_char(out, range.first);
		return;
	}
	str_add(out, "[");
	add_codepoint(out, range.first);
	str_add(out, "-");
	add_codepoint(out, range.last);
	str_add(out, "]");
}

static void add_one_folded(struct str *out, uint32_t cp)
{
	if (cp >= 'a' && cp <= 'z') {
		const char *third = cp == 's' ? "|\u017f" : cp == 'k' ? "|\u212a" : NULL;

		/* No character of several bytes in a bracket: who reads bytes takes it apart. */
		str_addf(out, third ? "(%c|%c" : "[%c%c", (char)cp, (char)(cp - 'a' + 'A'));
		str_add(out, third ? third : "");
		str_add(out, third ? ")" : "]");
	} else {
		add_char(out, cp);
	}
}

/* Of a letter in it all its forms. */
static void add_set(struct str *out, const struct token *token, bool fold)
{
	str_add(out, "(");
	for (size_t i = 0; i < token->n_ranges; i++) {
		str_add(out, i ? "|" : "");
		add_range(out, token->ranges[i]);
	}
	for (uint32_t cp = 'a'; fold && cp <= 'z'; cp++)
		if (glob_set_has_folded(token, cp)) {
			str_add(out, "|");
			add_one_folded(out, cp);
		}
	str_add(out, ")");
}

/* Where such a file system has one character for several: "fi" is also the ligature. */
static size_t add_folded(struct str *out, const struct glob *glob, size_t i)
{
	size_t most = 1;

	for (size_t f = 0; f < glob_n_folds; f++) {
		size_t n = strlen(glob_folds[f].to), k = 0;

		while (k < n && i + k < glob->n && glob->tokens[i + k].kind == LITERAL &&
		       glob->tokens[i + k].cp == (unsigned char)glob_folds[f].to[k])
			k++;
		if (k == n && n > most)
			most = n;
	}
	if (most > 1)
		str_add(out, "(");
	for (size_t k = 0; k < most; k++)
		add_one_folded(out, glob->tokens[i + k].cp);
	for (size_t f = 0; most > 1 && f < glob_n_folds; f++) {
		bool same = strlen(glob_folds[f].to) == most;

		for (size_t k = 0; same && k < most; k++)
			same = glob->tokens[i + k].cp == (unsigned char)glob_folds[f].to[k];
		if (same) {
			str_add(out, "|");
			add_codepoint(out, glob_folds[f].cp);
		}
	}
	str_add(out, most > 1 ? ")" : "");
	return most;
}

static size_t add_token(struct str *out, const struct glob *glob, size_t i)
{
	const struct token *token = &glob->tokens[i];

	switch (token->kind) {
	case LITERAL:
		if (glob->fold)
			return add_folded(out, glob, i);
		add_char(out, token->cp);
		break;
	case ANY:
		str_add(out, "[^/]");
		break;
	case SET:
		add_set(out, token, glob->fold);
		break;
	case STAR:
		str_add(out, "[^/]*");
		break;
	case DEEP:
		str_add(out, ".*");
		break;
	case DIRS:
		str_add(out, "(.*/)?");
		break;
	}
	return 1;
}

bool glob_add_regex(struct str *out, const struct glob *glob, bool tail)
{
	size_t from = 0;

	for (size_t i = 0; tail && i < glob->n; i++)
		if (glob->tokens[i].kind == DEEP || glob->tokens[i].kind == DIRS)
			from = i + 1;
	if (tail && !from)
		return false;
	while (from < glob->n)
		from += add_token(out, glob, from);
	return true;
}
