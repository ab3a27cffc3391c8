/* SPDX-License-Identifier: MIT */
/*
 * The words of a shell: quotes, expansions, substitutions, here-documents. A substitution holds
 * commands of its own, which go to the same list of parts.
 */
#include "spec/shell_lex.h"

#include <ctype.h>
#include <string.h>

#include "base/str.h"

struct word {
	struct str plain;
	bool dynamic, glob, quoted;
};

static int read_dollar(struct shell_reader *r, struct word *w);
static int read_double(struct shell_reader *r, struct word *w);

int shell_fail(struct shell_reader *r, const char *what)
{
	size_t column = 1;

	for (const char *q = r->text; q < r->p; q++)
		column += (*q & 0xc0) != 0x80;
	return err_usage(r->err, "column %zu: %s", column, what);
}

int shell_deeper(struct shell_reader *r)
{
	return ++r->depth > SHELL_MAX_DEPTH ? shell_fail(r, "nested too deeply") : 0;
}

bool shell_is_meta(char c)
{
	return !c || strchr(" \t\n;&|<>()", c);
}

void shell_skip_blank(struct shell_reader *r)
{
	for (;;) {
		if (shell_at(r, 0) == ' ' || shell_at(r, 0) == '\t') {
			r->p++;
		} else if (shell_at(r, 0) == '\\' && shell_at(r, 1) == '\n') {
			r->p += 2;
		} else if (shell_at(r, 0) == '#' && (r->p == r->text || shell_is_meta(r->p[-1]))) {
			while (r->p < r->end && *r->p != '\n')
				r->p++;
		} else {
			return;
		}
	}
}

static int read_single(struct shell_reader *r, struct word *w)
{
	const char *close = memchr(r->p + 1, '\'', (size_t)(r->end - r->p - 1));

	if (!close)
		return shell_fail(r, "a quote that does not end");
	w->quoted = true;
	str_addn(&w->plain, r->p + 1, (size_t)(close - r->p - 1));
	r->p = close + 1;
	return 0;
}

/* $'...': its escapes are not decoded, so its value counts as unknown. */
static int read_ansi(struct shell_reader *r, struct word *w)
{
	w->dynamic = w->quoted = true;
	for (r->p += 2; r->p < r->end && *r->p != '\''; r->p++)
		if (*r->p == '\\' && r->p + 1 < r->end)
			r->p++;
	if (r->p >= r->end)
		return shell_fail(r, "a quote that does not end");
	r->p++;
	return 0;
}

/* A substitution is a script of its own, inside this text. */
static int read_inner(struct shell_reader *r, char close)
{
	struct shell_reader outer = *r;
	int k = shell_deeper(r);

	r->script->substitution = true;
	r->substituted++;
	r->outer_here = outer.outer_here || outer.n_here;
	r->here = NULL;
	r->n_here = r->in_double = 0;
	r->in_here = false;
	if (k == 0)
		k = shell_read_list(r, close);
	if (k == 0 && r->n_here)
		k = shell_fail(r, "a here-document that leaves its substitution");
	outer.p = r->p;
	*r = outer;
	return k;
}

/* `...`: the text between is unescaped first and is a script then. */
static int read_backtick(struct shell_reader *r, struct word *w, bool in_double)
{
	_cleanup_str_ struct str inner = { 0 };
	struct shell_reader sub = *r;
	const char *start = r->p++;
	int k;

	str_add(&inner, "");
	for (; r->p < r->end && *r->p != '`'; r->p++) {
		if (*r->p == '\\' &&
		    (strchr("$`\\", shell_at(r, 1)) || (in_double && shell_at(r, 1) == '"')))
			r->p++;
		if (r->p < r->end)
			str_addn(&inner, r->p, 1);
	}
	if (r->p >= r->end) {
		r->p = start;
		return shell_fail(r, "a ` that does not end");
	}
	r->p++;
	w->dynamic = true;
	sub.text = sub.p = arena_strndup(r->arena, inner.s, inner.len);
	sub.end = sub.text + inner.len;
	k = read_inner(&sub, '\0');
	return k;
}

/* What stands between ${ and }: quotes and expansions inside count, the rest does not. */
static int read_braces(struct shell_reader *r, struct word *w)
{
	int k = shell_deeper(r);

	w->dynamic = true;
	for (r->p += 2; k == 0 && r->p < r->end && *r->p != '}';) {
		if (*r->p == '\\')
			r->p += MIN((size_t)2, (size_t)(r->end - r->p));
		else if (strchr("'\"", *r->p) && (r->in_here || (r->in_double && *r->p == '\'')))
			k = shell_fail(r, "quotes in a quoted ${ }"); /* shells differ */
		else if (*r->p == '\'')
			k = read_single(r, w);
		else if (*r->p == '"')
			k = read_double(r, w);
		else if (*r->p == '$')
			k = read_dollar(r, w);
		else if (*r->p == '`')
			k = read_backtick(r, w, r->in_double);
		else
			r->p++;
	}
	if (k == 0 && r->p >= r->end)
		k = shell_fail(r, "a ${ that does not end");
	r->p += k == 0;
	r->depth--;
	return k;
}

int shell_skip_arithmetic(struct shell_reader *r, bool loop)
{
	struct word ignored = { 0 };
	unsigned open = 1;
	int k = 0;

	while (k == 0 && r->p < r->end && open) {
		char c = *r->p;

		if (c == '$')
			k = read_dollar(r, &ignored);
		else if (c == '`')
			k = read_backtick(r, &ignored, false);
		else if (strchr("'\"\\#", c) || (c == ';' && !loop))
			k = shell_fail(r, "quotes in arithmetic");
		else
			open += (c == '(') - (c == ')'), r->p++;
	}
	str_release(&ignored.plain);
	if (k == 0 && (open || shell_at(r, 0) != ')'))
		k = shell_fail(r, "a (( that is no arithmetic");
	r->p += k == 0;
	return k;
}

/* A '$' and what belongs to it; a lone one is itself. */
static int read_dollar(struct shell_reader *r, struct word *w)
{
	char c = shell_at(r, 1);

	if (c == '\\' && shell_at(r, 2) == '\n')
		return shell_fail(r, "a line that is continued behind a $");
	if (c == '(' && shell_at(r, 2) == '(') {
		w->dynamic = true;
		r->p += 3;
		return shell_skip_arithmetic(r, false);
	}
	if (c == '(') {
		w->dynamic = true;
		r->p += 2;
		return read_inner(r, ')');
	}
	if (c == '{')
		return read_braces(r, w);
	if (c == '[')
		return shell_fail(r, "$[ ]");
	if (isalpha((unsigned char)c) || c == '_') {
		w->dynamic = true;
		for (r->p++; r->p < r->end && (isalnum((unsigned char)*r->p) || *r->p == '_');)
			r->p++;
		return 0;
	}
	if (c && strchr("0123456789?#$!@*-", c)) {
		w->dynamic = true;
		r->p += 2;
		return 0;
	}
	str_add(&w->plain, "$");
	r->p++;
	return 0;
}

static int read_double(struct shell_reader *r, struct word *w)
{
	int k = 0;

	w->quoted = true;
	r->in_double++;
	for (r->p++; k == 0 && r->p < r->end && *r->p != '"';) {
		if (*r->p == '\\' && r->p + 1 < r->end) {
			if (!strchr("$`\"\\\n", r->p[1]))
				str_add(&w->plain, "\\");
			if (r->p[1] != '\n')
				str_addn(&w->plain, r->p + 1, 1);
			r->p += 2;
		} else if (*r->p == '$') {
			k = read_dollar(r, w);
		} else if (*r->p == '`') {
			k = read_backtick(r, w, true);
		} else {
			str_addn(&w->plain, r->p++, 1);
		}
	}
	if (k == 0 && r->p >= r->end)
		k = shell_fail(r, "a quote that does not end");
	r->p += k == 0;
	r->in_double--;
	return k;
}

static int read_escape(struct shell_reader *r, struct word *w)
{
	if (r->p + 1 >= r->end)
		return shell_fail(r, "a backslash at the end");
	if (r->p[1] != '\n') {
		str_addn(&w->plain, r->p + 1, 1);
		w->quoted = true;
	}
	r->p += 2;
	return 0;
}

/* a=(...): words of their own up to the bracket. */
static int read_array(struct shell_reader *r, struct word *w)
{
	int k = shell_deeper(r);

	w->dynamic = true;
	for (r->p++; k == 0;) {
		struct shell_word element;

		shell_skip_blank(r);
		if (shell_at(r, 0) == '\n')
			r->p++;
		else if (shell_at(r, 0) == ')')
			break;
		else if (shell_is_meta(shell_at(r, 0)))
			k = shell_fail(r, "an array that does not end");
		else
			k = shell_read_word(r, &element);
	}
	r->p += k == 0;
	r->depth--;
	return k;
}

/* An unquoted character that means more than itself. */
static int read_special(struct shell_reader *r, struct word *w)
{
	char c = *r->p;

	if (c && strchr("*?[", c))
		w->glob = true;
	if (c && strchr("?*+@!", c) && shell_at(r, 1) == '(')
		return shell_fail(r, "an extended pattern");
	/* {a,b} makes several words of one. */
	if (c == '{' && (shell_at(r, 1) != '}'))
		w->dynamic = true;
	str_addn(&w->plain, r->p++, 1);
	return 0;
}

static int read_piece(struct shell_reader *r, struct word *w, const char *start)
{
	switch (*r->p) {
	case '\'':
		return read_single(r, w);
	case '"':
		return read_double(r, w);
	case '\\':
		return read_escape(r, w);
	case '`':
		return read_backtick(r, w, false);
	case '$':
		if (shell_at(r, 1) == '\'')
			return read_ansi(r, w);
		if (shell_at(r, 1) == '"') {
			w->dynamic = true; /* may be translated */
			r->p++;
			return read_double(r, w);
		}
		return read_dollar(r, w);
	case '<':
	case '>':
		w->dynamic = true;
		r->p += 2;
		return read_inner(r, ')');
	case '(':
		if (r->p > start && r->p[-1] == '=')
			return read_array(r, w);
		return shell_fail(r, "a bracket in a word");
	default:
		return read_special(r, w);
	}
}

int shell_read_word(struct shell_reader *r, struct shell_word *ret)
{
	const char *start = r->p;
	struct word w = { 0 };
	int k = 0;

	str_add(&w.plain, "");
	while (k == 0 && r->p < r->end) {
		bool inner = (*r->p == '<' || *r->p == '>') && shell_at(r, 1) == '(';
		bool array = *r->p == '(' && r->p > start && r->p[-1] == '=';

		if (shell_is_meta(*r->p) && !inner && !array)
			break;
		k = read_piece(r, &w, start);
	}
	if (k == 0)
		*ret = (struct shell_word){
			.raw = arena_strndup(r->arena, start, (size_t)(r->p - start)),
			.plain = arena_strdup(r->arena, w.plain.s),
			.dynamic = w.dynamic,
			.glob = w.glob,
			.quoted = w.quoted,
		};
	str_release(&w.plain);
	return k;
}

/* The expansions in a here-document's body. */
static int read_here_text(struct shell_reader *r, const char *body, size_t len)
{
	struct shell_reader sub = *r;
	struct word ignored = { 0 };
	int k = 0;

	sub.text = sub.p = arena_strndup(r->arena, body, len);
	sub.end = sub.text + len;
	sub.in_here = true;
	while (k == 0 && sub.p < sub.end) {
		if (*sub.p == '\\')
			sub.p += MIN((size_t)2, (size_t)(sub.end - sub.p));
		else if (*sub.p == '$')
			k = read_dollar(&sub, &ignored);
		else if (*sub.p == '`')
			k = read_backtick(&sub, &ignored, false);
		else
			sub.p++;
	}
	str_release(&ignored.plain);
	return k;
}

/* The next line, without its newline. Where expansions count, a backslash at its end joins it with
 * the one after it. */
static void read_line(struct shell_reader *r, bool joins, struct str *out)
{
	bool again = true;

	str_addn(out, "", 0);
	out->len = 0;
	while (again && r->p < r->end) {
		const char *eol = memchr(r->p, '\n', (size_t)(r->end - r->p));
		const char *stop = eol ? eol : r->end, *back = stop;

		while (back > r->p && back[-1] == '\\')
			back--;
		again = joins && eol && (stop - back) % 2;
		str_addn(out, r->p, (size_t)(stop - r->p) - again);
		r->p = eol ? eol + 1 : r->end;
	}
}

/* From the line at r->p on, up to and with the line that ends it. */
static int read_here(struct shell_reader *r, const struct shell_here *here)
{
	_cleanup_str_ struct str line = { 0 };
	const char *body = r->p;

	while (r->p < r->end) {
		const char *start = r->p, *text;

		read_line(r, !here->quoted, &line);
		text = line.s + (here->strip_tabs ? strspn(line.s, "\t") : 0);
		if (!strcmp(text, here->end))
			return here->quoted ? 0 : read_here_text(r, body, (size_t)(start - body));
	}
	return shell_fail(r, "a here-document that does not end");
}

int shell_read_newline(struct shell_reader *r)
{
	size_t n = r->n_here;
	int k = 0;

	if (r->outer_here)
		return shell_fail(r, "a substitution over lines before a here-document");
	r->p++;
	r->n_here = 0;
	for (size_t i = 0; k == 0 && i < n; i++)
		k = read_here(r, &r->here[i]);
	r->here = NULL;
	return k;
}
