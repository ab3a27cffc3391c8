/* SPDX-License-Identifier: MIT */
/* A spec's success criteria, read line by line. The text may be anybody's. */
#include "ralph/criteria.h"

#include <string.h>

enum { CRITERIA_MAX = 10000, TRIALS_MAX = 64 };

struct reader {
	struct criteria *ret;
	const char *fence; /* "```" or "~~~" while inside one */
	bool in_section;
	bool open; /* trials belong to the last criterion */
	unsigned line;
};

static bool starts(const char *s, size_t n, const char *with)
{
	return n >= strlen(with) && !memcmp(s, with, strlen(with));
}

static void trim(const char **s, size_t *n)
{
	while (*n && ((*s)[0] == ' ' || (*s)[0] == '\t'))
		(*s)++, (*n)--;
	while (*n && ((*s)[*n - 1] == ' ' || (*s)[*n - 1] == '\t' || (*s)[*n - 1] == '\r'))
		(*n)--;
}

static void read_heading(struct reader *r, const char *s, size_t n)
{
	static const char section[] = "## Success Criteria";

	r->open = false;
	if (starts(s, n, "# ") && !r->ret->title) {
		s += 2, n -= 2;
		trim(&s, &n);
		r->ret->title = arena_strndup(&r->ret->arena, s, n);
	}
	if (starts(s, n, "# ") || starts(s, n, "## "))
		r->in_section = n == strlen(section) && !memcmp(s, section, n);
}

/* "- [ ] text" */
static bool read_criterion(struct reader *r, const char *s, size_t n)
{
	struct criterion *c;

	if (n < 6 || (s[0] != '-' && s[0] != '*' && s[0] != '+') || s[1] != ' ' || s[2] != '[' ||
	    !s[3] || !strchr(" xX", s[3]) || s[4] != ']' || s[5] != ' ' ||
	    r->ret->n >= CRITERIA_MAX)
		return false;
	c = arena_grow(&r->ret->arena, &r->ret->v, &r->ret->n, sizeof(*c));
	s += 6, n -= 6;
	trim(&s, &n);
	c->text = arena_strndup(&r->ret->arena, s, n);
	r->open = true;
	return true;
}

/* "[verify](path#function)", and nothing else on the line. */
static bool read_trial(struct reader *r, const char *s, size_t n)
{
	static const struct {
		const char *mark;
		enum trial_kind kind;
	} marks[] = { { "[verify](", TRIAL_VERIFY },
		      { "[verify:wrapix](", TRIAL_SANDBOX },
		      { "[judge](", TRIAL_JUDGE } };
	struct criterion *c = r->open ? &r->ret->v[r->ret->n - 1] : NULL;
	struct trial *trial;
	char *cut;

	for (size_t i = 0; c && c->n_trials < TRIALS_MAX && i < ARRAY_LEN(marks); i++) {
		size_t len = strlen(marks[i].mark);

		if (!starts(s, n, marks[i].mark) || n < len + 2 || s[n - 1] != ')')
			continue;
		trial = arena_grow(&r->ret->arena, &c->trials, &c->n_trials, sizeof(*trial));
		trial->kind = marks[i].kind;
		trial->line = r->line;
		trial->path = arena_strndup(&r->ret->arena, s + len, n - len - 1);
		cut = strstr(trial->path, "::");
		cut = cut ? cut : strchr(trial->path, '#');
		if (cut) {
			trial->function = cut + (*cut == ':' ? 2 : 1);
			*cut = '\0';
		}
		if (trial->function && !*trial->function)
			trial->function = NULL;
		return true;
	}
	return false;
}

static void read_line(struct reader *r, const char *s, size_t n)
{
	const char *body = s;
	size_t left = n;

	r->line++;
	trim(&body, &left);
	if (starts(body, left, "```") || starts(body, left, "~~~")) {
		const char *kind = body[0] == '`' ? "```" : "~~~";

		if (!r->fence)
			r->fence = kind;
		else if (r->fence[0] == kind[0])
			r->fence = NULL;
		r->open = false;
		return;
	}
	if (r->fence)
		return;
	if (n && s[0] == '#')
		read_heading(r, body, left);
	else if (r->in_section && !read_criterion(r, body, left) && !read_trial(r, body, left) &&
		 !left)
		r->open = false;
}

void criteria_parse(struct criteria *ret, const char *text, size_t len)
{
	struct reader r = { .ret = ret };

	*ret = (struct criteria){ 0 };
	while (len) {
		const char *end = memchr(text, '\n', len);
		size_t n = end ? (size_t)(end - text) : len;

		read_line(&r, text, n);
		n += end ? 1 : 0;
		text += n;
		len -= n;
	}
}

void criteria_release(struct criteria *criteria)
{
	arena_release(&criteria->arena);
}
