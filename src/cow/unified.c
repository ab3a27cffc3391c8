/* SPDX-License-Identifier: MIT */
/*
 * A unified diff. The common lines at both ends are cut off; the middle is compared by Myers' greedy
 * search for the shortest script of removals and additions, which is remembered step by step and then
 * read backwards. Past EDITS_MAX edits the middle counts as wholly replaced.
 */
#include "cow/unified.h"

#include <string.h>

#define EDITS_MAX 2000
#define CONTEXT 3

struct line {
	const char *s;
	size_t len; /* with its newline */
	uint64_t hash;
};

struct text {
	struct line *v;
	size_t n;
};

/* One line of a or b stays or goes; in order. */
struct script {
	bool *removed, *added; /* one for each line of a, of b */
};

bool unified_is_text(const char *s, size_t len)
{
	return !len || !memchr(s, '\0', MIN(len, (size_t)8000));
}

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

static struct text split(const char *s, size_t len)
{
	struct text text = { 0 };
	size_t cap = 0;

	for (size_t at = 0; at < len;) {
		const char *end = memchr(s + at, '\n', len - at);
		struct line line = { .s = s + at, .hash = 14695981039346656037ULL };

		line.len = end ? (size_t)(end - line.s) + 1 : len - at;
		for (size_t i = 0; i < line.len; i++)
			line.hash = (line.hash ^ (unsigned char)line.s[i]) * 1099511628211ULL;
		if (text.n == cap) {
			cap = cap ? cap * 2 : 64;
			text.v = must(reallocarray(text.v, cap, sizeof(line)));
		}
		text.v[text.n++] = line;
		at += line.len;
	}
	return text;
}

static bool same(const struct line *a, const struct line *b)
{
	return a->hash == b->hash && a->len == b->len && !memcmp(a->s, b->s, a->len);
}

/* The search over the middle: lines a[0..n) and b[0..m). */
struct search {
	const struct line *a, *b;
	long n, m;
	long *v;      /* furthest x on each diagonal, from -max to max */
	long max;     /* edits at most */
	long **trail; /* v as it was before each round */
};

/* Goes down or right, then along what is the same. Returns x. */
static long advance(const struct search *s, const long *v, long d, long k)
{
	long x = k == -d || (k != d && v[k - 1] < v[k + 1]) ? v[k + 1] : v[k - 1] + 1;

	while (x < s->n && x - k < s->m && same(&s->a[x], &s->b[x - k]))
		x++;
	return x;
}

/* The number of edits, or -1 when there are too many. */
static long find_edits(struct search *s)
{
	long *v = s->v + s->max;

	v[1] = 0;
	for (long d = 0; d <= s->max; d++) {
		size_t bytes = (size_t)(2 * d + 3) * sizeof(long);

		s->trail[d] = must(malloc(bytes));
		memcpy(s->trail[d], v - d - 1, bytes);
		for (long k = -d; k <= d; k += 2) {
			long x = advance(s, v, d, k);

			v[k] = x;
			if (x >= s->n && x - k >= s->m)
				return d;
		}
	}
	return -1;
}

static void read_back(const struct search *s, long d, bool *removed, bool *added)
{
	long x = s->n, y = s->m;

	for (; d > 0; d--) {
		const long *v = s->trail[d] + d + 1;
		long k = x - y;
		bool down = k == -d || (k != d && v[k - 1] < v[k + 1]);
		long from = down ? v[k + 1] : v[k - 1];

		if (down)
			added[from - (k + 1)] = true;
		else
			removed[from] = true;
		x = from;
		y = from - (down ? k + 1 : k - 1);
	}
}

static void compare_middle(const struct text *a, size_t a_from, size_t a_to, const struct text *b,
			   size_t b_from, size_t b_to, struct script *script)
{
	struct search s = {
		.a = a->v ? a->v + a_from : NULL,
		.b = b->v ? b->v + b_from : NULL,
		.n = (long)(a_to - a_from),
		.m = (long)(b_to - b_from),
	};
	long d = -1;

	s.max = MIN(s.n + s.m, EDITS_MAX);
	if (s.n && s.m) {
		s.v = must(calloc((size_t)(2 * s.max + 3), sizeof(long)));
		s.v++; /* v[-1 - max] may be looked at */
		s.trail = must(calloc((size_t)s.max + 1, sizeof(*s.trail)));
		d = find_edits(&s);
		if (d >= 0)
			read_back(&s, d, script->removed + a_from, script->added + b_from);
		for (long i = 0; i <= s.max; i++)
			free(s.trail[i]);
		free(s.trail);
		free(s.v - 1);
	}
	if (d < 0) {
		memset(script->removed + a_from, true, a_to - a_from);
		memset(script->added + b_from, true, b_to - b_from);
	}
}

static void compare(const struct text *a, const struct text *b, struct script *script)
{
	size_t head = 0, tail = 0;

	while (head < a->n && head < b->n && same(&a->v[head], &b->v[head]))
		head++;
	while (tail < a->n - head && tail < b->n - head &&
	       same(&a->v[a->n - tail - 1], &b->v[b->n - tail - 1]))
		tail++;
	compare_middle(a, head, a->n - tail, b, head, b->n - tail, script);
}

static void add_line(struct str *out, char mark, const struct line *line)
{
	known(line);
	str_addn(out, &mark, 1);
	str_addn(out, line->s, line->len);
	if (line->s[line->len - 1] != '\n')
		str_add(out, "\n\\ No newline at end of file\n");
}

struct range {
	size_t a, b, a_end, b_end;
};

/* "12,3": where a part begins and how long it is; an empty one stands after the line before. */
static void add_range(struct str *out, size_t from, size_t to)
{
	str_addf(out, "%zu", to == from ? from : from + 1);
	if (to - from != 1)
		str_addf(out, ",%zu", to - from);
}

static void add_hunk(struct str *out, const struct text *a, const struct text *b,
		     const struct script *script, const struct range *r)
{
	size_t i = r->a, k = r->b;

	str_add(out, "@@ -");
	add_range(out, r->a, r->a_end);
	str_add(out, " +");
	add_range(out, r->b, r->b_end);
	str_add(out, " @@\n");
	while (i < r->a_end || k < r->b_end) {
		if (i < r->a_end && script->removed[i]) {
			add_line(out, '-', &a->v[i++]);
		} else if (k < r->b_end && script->added[k]) {
			add_line(out, '+', &b->v[k++]);
		} else {
			add_line(out, ' ', &a->v[i++]);
			k++;
		}
	}
}

/* Steps over one change, or over one line that stays; false at the end. */
static bool step(const struct text *a, const struct text *b, const struct script *script, size_t *i,
		 size_t *k, bool *ret_change)
{
	size_t was_i = *i, was_k = *k;

	while (*i < a->n && script->removed[*i])
		++*i;
	while (*k < b->n && script->added[*k])
		++*k;
	*ret_change = *i != was_i || *k != was_k;
	if (*ret_change)
		return true;
	if (*i >= a->n)
		return false;
	++*i;
	++*k;
	return true;
}

static void add_hunks(struct str *out, const struct text *a, const struct text *b,
		      const struct script *script)
{
	size_t i = 0, k = 0, was_i = 0, was_k = 0, quiet = 0;
	struct range r = { 0 };
	bool open = false, change;

	while (step(a, b, script, &i, &k, &change)) {
		quiet = change ? 0 : quiet + 1;
		if (change && !open) {
			size_t lead = MIN(MIN(was_i, was_k), (size_t)CONTEXT);

			r = (struct range){ .a = was_i - lead, .b = was_k - lead };
			open = true;
		}
		if (change) {
			r.a_end = i;
			r.b_end = k;
		} else if (open && quiet > (size_t)2 * CONTEXT) {
			r.a_end += CONTEXT;
			r.b_end += CONTEXT;
			add_hunk(out, a, b, script, &r);
			open = false;
		}
		was_i = i;
		was_k = k;
	}
	if (open) {
		r.a_end += MIN((size_t)CONTEXT, a->n - r.a_end);
		r.b_end += MIN((size_t)CONTEXT, b->n - r.b_end);
		add_hunk(out, a, b, script, &r);
	}
}

void unified_add(struct str *out, const char *a, size_t a_len, const char *b, size_t b_len,
		 struct unified_stat *ret)
{
	struct text x = split(a, a_len), y = split(b, b_len);
	struct script script = {
		.removed = must(calloc(x.n + 1, sizeof(bool))),
		.added = must(calloc(y.n + 1, sizeof(bool))),
	};

	compare(&x, &y, &script);
	*ret = (struct unified_stat){ 0 };
	for (size_t i = 0; i < x.n; i++)
		ret->removed += script.removed[i];
	for (size_t i = 0; i < y.n; i++)
		ret->added += script.added[i];
	if (out)
		add_hunks(out, &x, &y, &script);
	free(script.removed);
	free(script.added);
	free(x.v);
	free(y.v);
}
