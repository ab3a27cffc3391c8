/* SPDX-License-Identifier: MIT */
/*
 * The lists of data/seccomp, read line by line; '#' starts a comment.
 *
 *     [ACTION]                    the answer for the names that follow: allow, notify, or an errno
 *     [replace ACTION]            the same, for names that an earlier list has; the new one counts
 *     NAME                        a call, by libseccomp's name
 *     NAME=NR NAME=ARCH:NR        with the number, for a libseccomp too old to know the name
 *     ?NAME                       ignored where libseccomp does not know it
 *     NAME: TEST, TEST -> ACTION  judged by arguments; of a call's lines the first that fits counts
 *     define WORD NUMBER          a name for a number in tests, to the end of the list
 *     default ACTION              the answer for calls that no list names (filters only)
 *
 * A TEST is 'argN is V...' (one of), 'argN not V...' (none of) or 'argN has V' (any of its bits).
 * It looks at the low 32 bits of the argument. 'argN least V' (V or more) looks at all 64. A call that is listed twice, or a replacement that
 * replaces nothing, is an error: a slip in a list must not become a hole.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/seccomp.h>

#include "seccomp-gen.h"

static const struct {
	const char *word;
	uint32_t action;
} actions[] = {
	{ "allow", SECCOMP_RET_ALLOW },
	{ "notify", SECCOMP_RET_USER_NOTIF },
	{ "EPERM", SECCOMP_RET_ERRNO | EPERM },
	{ "ENOSYS", SECCOMP_RET_ERRNO | ENOSYS },
	{ "EAFNOSUPPORT", SECCOMP_RET_ERRNO | EAFNOSUPPORT },
	{ "EPROTONOSUPPORT", SECCOMP_RET_ERRNO | EPROTONOSUPPORT },
};

/* One list while it is being read. */
struct reader {
	struct policy *policy;
	unsigned list;
	bool replace;
	const char *action; /* of the heading; NULL before the first */
	char heading[32];
	unsigned n_words;
	struct {
		char word[32];
		uint32_t v;
	} words[64];
};

static void copy_word(char *dst, size_t size, const char *src)
{
	if (strlen(src) >= size)
		die("'%s' is too long", src);
	strcpy(dst, src);
}

static uint32_t parse_action(const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(actions); i++)
		if (strcmp(actions[i].word, word) == 0)
			return actions[i].action;
	die("unknown action '%s'", word);
}

static uint32_t parse_number(const struct reader *r, const char *s)
{
	unsigned long long v;
	char *end;

	for (unsigned i = 0; i < r->n_words; i++)
		if (strcmp(r->words[i].word, s) == 0)
			return r->words[i].v;
	errno = 0;
	v = strtoull(s, &end, 0);
	if (!isdigit((unsigned char)*s) || *end || errno || v > UINT32_MAX)
		die("'%s' is neither a number nor defined", s);
	return (uint32_t)v;
}

static void parse_define(struct reader *r, char *s)
{
	char *word = strtok(s, " "), *number = strtok(NULL, " ");

	if (!word || !number || strtok(NULL, " "))
		die("wanted 'define WORD NUMBER'");
	if (r->n_words == ARRAY_LEN(r->words))
		die("too many words");
	copy_word(r->words[r->n_words].word, sizeof(r->words[0].word), word);
	r->words[r->n_words].v = parse_number(r, number);
	r->n_words++;
}

/* "arg0 is A B" */
static void parse_test(const struct reader *r, char *s, struct test *t)
{
	static const char *const ops[] = {
		[OP_IS] = "is", [OP_NOT] = "not", [OP_HAS] = "has", [OP_LEAST] = "least"
	};
	char *arg = strtok(s, " "), *op = strtok(NULL, " "), *v;
	size_t i = 0;

	if (!arg || strlen(arg) != 4 || strncmp(arg, "arg", 3) != 0 || arg[3] < '0' || arg[3] > '5')
		die("wanted 'argN' with N from 0 to 5");
	t->arg = (unsigned)(arg[3] - '0');
	while (i < ARRAY_LEN(ops) && (!op || strcmp(ops[i], op) != 0))
		i++;
	if (i == ARRAY_LEN(ops))
		die("wanted 'is', 'not', 'has' or 'least'");
	t->op = (enum op)i;
	while ((v = strtok(NULL, " "))) {
		if (t->n == ARRAY_LEN(t->v))
			die("too many values");
		t->v[t->n++] = parse_number(r, v);
	}
	if (t->n == 0 || (t->op >= OP_HAS && t->n != 1))
		die("wanted %s value", t->op >= OP_HAS ? "one" : "a");
}

/* "TEST, TEST -> ACTION" */
static void parse_rule(const struct reader *r, char *s, struct rule *rule)
{
	char *arrow = strstr(s, "->"), *next;

	if (!arrow)
		die("wanted '-> ACTION'");
	*arrow = '\0';
	rule->action = parse_action(arrow + 2 + strspn(arrow + 2, " "));
	if (s[strspn(s, " ")] == '\0')
		return;
	for (; s; s = next) {
		next = strchr(s, ',');
		if (next)
			*next++ = '\0';
		if (rule->n_tests == ARRAY_LEN(rule->tests))
			die("too many tests");
		parse_test(r, s, &rule->tests[rule->n_tests++]);
	}
}

/* "name", "?name", "name=NR", "name=ARCH:NR" */
static void parse_name(const struct reader *r, char *s, struct call *c)
{
	char *eq = strchr(s, '='), *colon;

	c->nr = -1;
	c->optional = *s == '?';
	if (eq) {
		*eq++ = '\0';
		colon = strchr(eq, ':');
		if (colon) {
			*colon++ = '\0';
			copy_word(c->nr_arch, sizeof(c->nr_arch), find_arch(eq)->name);
			eq = colon;
		}
		c->nr = parse_number(r, eq);
		if (c->nr >= NR_MAX && c->nr != NR_SKIP)
			die("no system call has the number %s", eq);
	}
	copy_word(c->name, sizeof(c->name), s + c->optional);
	if (c->name[strspn(c->name, "abcdefghijklmnopqrstuvwxyz0123456789_")] || !*c->name)
		die("'%s' is not the name of a call", c->name);
}

/* The call to write into: a new one, the one whose rules go on, or the one that is replaced. */
static struct call *claim_call(const struct reader *r, const struct call *like, bool more)
{
	struct policy *p = r->policy;
	struct call *c = NULL;

	for (unsigned i = 0; i < p->n_calls && !c; i++)
		if (strcmp(p->calls[i].name, like->name) == 0)
			c = &p->calls[i];
	if (c && c->list == r->list && more)
		return c;
	if (c && (!r->replace || c->list == r->list))
		die("'%s' is listed twice", like->name);
	if (!c && r->replace)
		die("'%s' replaces nothing", like->name);
	if (!c && p->n_calls == ARRAY_LEN(p->calls))
		die("too many calls");
	if (!c)
		c = &p->calls[p->n_calls++];
	*c = *like;
	c->list = r->list;
	return c;
}

static void parse_call(const struct reader *r, char *s)
{
	char *rule = strstr(s, ": ");
	struct call like = { 0 }, *c;

	if (rule)
		*rule = '\0';
	else if (!r->action)
		die("a name before the first [ACTION]");
	parse_name(r, s, &like);
	c = claim_call(r, &like, rule);
	if (c->n_rules == ARRAY_LEN(c->rules))
		die("too many lines for '%s'", c->name);
	if (c->n_rules > 0 && c->rules[c->n_rules - 1].n_tests == 0)
		die("'%s': a line before this one fits everything", c->name);
	if (rule)
		parse_rule(r, rule + 2, &c->rules[c->n_rules]);
	else
		c->rules[c->n_rules].action = parse_action(r->action);
	c->n_rules++;
}

static void parse_heading(struct reader *r, char *s)
{
	size_t n = strlen(s);

	if (s[n - 1] != ']')
		die("wanted '[ACTION]'");
	s[n - 1] = '\0';
	r->replace = strncmp(s, "[replace ", 9) == 0;
	copy_word(r->heading, sizeof(r->heading), s + (r->replace ? 9 : 1));
	parse_action(r->heading);
	r->action = r->heading;
}

/* Without comment and trailing blanks. */
static void trim_line(char *s)
{
	size_t n;

	s[strcspn(s, "#\n")] = '\0';
	for (char *p = s; *p; p++)
		if (*p == '\t')
			*p = ' ';
	n = strlen(s);
	while (n > 0 && s[n - 1] == ' ')
		s[--n] = '\0';
}

static void parse_line(struct reader *r, char *s)
{
	if (*s == '[')
		parse_heading(r, s);
	else if (strncmp(s, "define ", 7) == 0)
		parse_define(r, s + 7);
	else if (strncmp(s, "default ", 8) == 0)
		r->policy->fallback = parse_action(s + 8);
	else if (*s)
		parse_call(r, s);
}

void read_list(struct policy *p, const char *path, unsigned list)
{
	struct reader r = { .policy = p, .list = list };
	unsigned line = 0;
	char buf[512];
	FILE *f = fopen(path, "re");

	if (!f)
		die("%s: %s", path, strerror(errno));
	while (fgets(buf, sizeof(buf), f)) {
		die_at(path, ++line);
		if (!strchr(buf, '\n'))
			die("the line is too long or lacks its end");
		trim_line(buf);
		parse_line(&r, buf);
	}
	die_at(NULL, 0);
	if (ferror(f))
		die("%s: %s", path, strerror(errno));
	fclose(f);
}
