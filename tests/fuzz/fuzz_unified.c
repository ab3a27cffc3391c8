/* SPDX-License-Identifier: MIT */
/*
 * Two texts of a sandbox, divided by a NUL, as a unified diff: the same give nothing, the counts are those of the marks, the
 * other way round they are exchanged, and whoever applies it to the first gets the second.
 */
#include <stdio.h>
#include <string.h>

#include "cow/unified.h"
#include "fuzz.h"

struct patching {
	const char *diff;      /* what is left of it */
	const char *old, *end; /* what is left of the old text */
	size_t line;           /* of the old text, that is next */
	struct str out;
};

static const char *line_end(const char *s, const char *end)
{
	const char *newline = memchr(s, '\n', (size_t)(end - s));

	return newline ? newline + 1 : end;
}

/* The next line of the old text stays, or goes. */
static void take_old(struct patching *p, bool stays)
{
	const char *end = line_end(p->old, p->end);

	check(p->old < p->end);
	if (stays)
		str_addn(&p->out, p->old, (size_t)(end - p->old));
	p->old = end;
	p->line++;
}

/* "12,3" and "12", which is one line; an empty part is named by the line before it. */
static size_t read_range(const char **s, size_t *ret_from)
{
	char *end;
	size_t n = 1;

	*ret_from = strtoul(*s, &end, 10);
	if (*end == ',')
		n = strtoul(end + 1, &end, 10);
	*s = end;
	*ret_from -= n > 0;
	return n;
}

/* A line of a hunk: what stands there, with its newline if it has one. */
static void take_line(struct patching *p)
{
	static const char none[] = "\\ No newline at end of file\n";
	char mark = *p->diff;
	const char *text = p->diff + 1, *end = strchr(text, '\n') + 1;
	bool bare = !strncmp(end, none, strlen(none));
	size_t len = (size_t)(end - text) - bare;

	p->diff = end + (bare ? strlen(none) : 0);
	if (mark == '+') {
		str_addn(&p->out, text, len);
		return;
	}
	check(mark == ' ' || mark == '-');
	check((size_t)(line_end(p->old, p->end) - p->old) == len && !memcmp(p->old, text, len));
	take_old(p, mark == ' ');
}

static void take_hunk(struct patching *p, struct unified_stat *marks)
{
	size_t from, to, n, m, lines = 0;

	check(!strncmp(p->diff, "@@ -", 4));
	p->diff += 4;
	n = read_range(&p->diff, &from);
	check(!strncmp(p->diff, " +", 2));
	p->diff += 2;
	m = read_range(&p->diff, &to);
	check(!strncmp(p->diff, " @@\n", 4) && from >= p->line);
	p->diff += 4;
	while (p->line < from)
		take_old(p, true);
	for (size_t i = 0; i < p->out.len; i++)
		lines += p->out.s[i] == '\n';
	check(lines == to);
	while (n || m) {
		marks->added += *p->diff == '+';
		marks->removed += *p->diff == '-';
		n -= *p->diff != '+';
		m -= *p->diff != '-';
		take_line(p);
	}
}

static void check_applied(const char *diff, const char *a, size_t a_len, const char *b,
			  size_t b_len, const struct unified_stat *stat)
{
	struct patching p = { .diff = diff, .old = a, .end = a + a_len };
	struct unified_stat marks = { 0 };

	str_add(&p.out, "");
	while (*p.diff)
		take_hunk(&p, &marks);
	while (p.old < p.end)
		take_old(&p, true);
	check(p.out.len == b_len && !memcmp(p.out.s, b, b_len));
	check(marks.added == stat->added && marks.removed == stat->removed);
	str_release(&p.out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *a = size ? (const char *)data : "", *nul = size ? memchr(a, 0, size) : NULL;
	const char *b = nul ? nul + 1 : a + size;
	size_t a_len = nul ? (size_t)(nul - a) : size, b_len = nul ? size - a_len - 1 : 0;
	_cleanup_str_ struct str out = { 0 }, none = { 0 };
	struct unified_stat there, back, same;

	str_add(&out, "");
	unified_add(&out, a, a_len, b, b_len, &there);
	unified_add(NULL, b, b_len, a, a_len, &back);
	unified_add(&none, a, a_len, a, a_len, &same);
	check(!none.len && !same.added && !same.removed);
	check(there.added == back.removed && there.removed == back.added);
	check(!out.len == (a_len == b_len && !memcmp(a, b, a_len)));
	if (!memchr(b, '\0', b_len)) /* the diff is read as a string here */
		check_applied(out.s, a, a_len, b, b_len, &there);
	(void)unified_is_text(a, a_len);
	return 0;
}
