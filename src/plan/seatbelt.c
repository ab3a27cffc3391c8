/* SPDX-License-Identifier: MIT */
/* File rules and network as a Seatbelt profile; see seatbelt.h. */
#include "plan/seatbelt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/path.h"
#include "spec/exec.h"
#include "spec/glob.h"

extern const struct embedded builtin_seatbelt[]; /* generated from data/seatbelt/ */

struct writer {
	struct str *out;
	const struct file_rules *rules;
	/* The literal rules that speak of reading, short ones first. */
	const struct file_rule **sorted;
	size_t n_sorted;
	struct err *err;
	int r;
};

/* --- strings --- */

/* A string of the profile; one that is too long has the whole profile refused. */
static void add_string(struct writer *w, const char *text)
{
	size_t start = w->out->len;

	str_add(w->out, "\"");
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			str_add(w->out, "\\");
		str_addn(w->out, text, 1);
	}
	str_add(w->out, "\"");
	if (w->out->len - start > SEATBELT_STRING_MAX + 2 && w->r == 0)
		w->r = err_set(w->err, ENAMETOOLONG,
			       "a rule for files is longer than Seatbelt takes (%d bytes)",
			       SEATBELT_STRING_MAX);
}

static void add_filter(struct writer *w, const char *kind, const char *text)
{
	str_addf(w->out, "(%s ", kind);
	add_string(w, text);
	str_add(w->out, ")");
}

/* What the rule covers: a path and all below it. */
static void add_cover(struct writer *w, const struct file_rule *rule)
{
	_cleanup_str_ struct str regex = { 0 };

	if (!rule->glob && rule->kind != FILE_PROTECT) {
		add_filter(w, "subpath", rule->path);
		return;
	}
	str_add(&regex, "^");
	glob_add_regex(&regex, rule->pattern, false);
	str_add(&regex, "(/.*)?$");
	add_filter(w, "regex", regex.s);
}

static void add_rule(struct writer *w, const char *verdict, const char *what,
		     const struct file_rule *rule)
{
	str_addf(w->out, "(%s %s ", verdict, what);
	add_cover(w, rule);
	str_add(w->out, ")\n");
}

/* --- reading --- */

/* From the short to the long; of two as long, the one that counts comes last. */
static int by_weight(const void *a, const void *b)
{
	const struct file_rule *one = *(const struct file_rule *const *)a;
	const struct file_rule *other = *(const struct file_rule *const *)b;
	size_t m = strlen(one->path), n = strlen(other->path);

	if (m != n)
		return m < n ? -1 : 1;
	return file_rule_read_rank(one) - file_rule_read_rank(other);
}

static void sort_literals(struct writer *w, struct arena *arena)
{
	for (size_t i = 0; i < w->rules->n; i++) {
		const struct file_rule *rule = &w->rules->rules[i];

		if (file_rule_read_rank(rule) && !rule->glob && !rule->firm)
			*(const struct file_rule **)arena_grow(
				arena, (void *)&w->sorted, &w->n_sorted, sizeof(*w->sorted)) = rule;
	}
	if (w->n_sorted)
		qsort(w->sorted, w->n_sorted, sizeof(*w->sorted), by_weight);
}

static const char *read_verdict(const struct file_rule *rule)
{
	return rule->kind == FILE_DENY_READ ? "deny" : "allow";
}

/* A root that may not be read leaves what no program can do without. */
static void add_root_rest(struct writer *w, const struct file_rule *rule)
{
	static const char *const left[] = { "/dev", "/proc", "/sys" };

	if (rule->kind != FILE_DENY_READ || strcmp(rule->path, "/") != 0)
		return;
	str_add(w->out, "(allow file-read* (literal \"/\")");
	for (size_t i = 0; i < ARRAY_LEN(left); i++)
		str_addf(w->out, " (subpath \"%s\")", left[i]);
	str_add(w->out, ")\n");
}

/* Below a path where the glob has matched already, it may match again: and that counts for more. */
static void deny_again(struct writer *w, const struct file_rule *glob, const char *below)
{
	_cleanup_str_ struct str regex = { 0 }, tail = { 0 };

	if (!glob_add_regex(&tail, glob->pattern, true))
		return;
	str_add(&regex, "^");
	regex_add_literal(&regex, below);
	str_addf(&regex, "/(.*/)?%s(/.*)?$", tail.s);
	str_add(w->out, "(deny file-read* ");
	add_filter(w, "regex", regex.s);
	str_add(w->out, ")\n");
}

/* How much of a literal rule's path the globs of this verdict cover: -1: nothing. */
static ssize_t glob_covers(const struct writer *w, const struct file_rule *literal, bool denied)
{
	ssize_t most = -1;

	for (size_t i = 0; i < w->rules->n; i++) {
		const struct file_rule *glob = &w->rules->rules[i];
		ssize_t len;

		if (!glob->glob || !file_rule_read_rank(glob) ||
		    (glob->kind == FILE_DENY_READ) != denied)
			continue;
		len = glob_cover(glob->pattern, literal->path);
		most = MAX(most, len);
	}
	return most;
}

/* An allowed place in what a glob denies, but for where the glob matches again. */
static void allow_below(struct writer *w, const struct file_rule *literal)
{
	add_rule(w, "allow", "file-read*", literal);
	for (size_t i = 0; i < w->rules->n; i++)
		if (w->rules->rules[i].glob && w->rules->rules[i].kind == FILE_DENY_READ)
			deny_again(w, &w->rules->rules[i], literal->path);
}

/* The literal rules once more that stand at or below a match of one of the globs of this verdict. */
static void add_below_globs(struct writer *w, bool denied)
{
	for (size_t i = 0; i < w->n_sorted; i++) {
		const struct file_rule *rule = w->sorted[i];
		ssize_t cover = glob_covers(w, rule, denied);

		if (cover < 0)
			continue;
		if (rule->kind == FILE_DENY_READ)
			add_rule(w, "deny", "file-read*", rule);
		else if (denied &&
			 (rule->kind == FILE_ALLOW_READ || cover < (ssize_t)strlen(rule->path)))
			allow_below(w,
				    rule); /* an allowWrite that is only as long does not count */
	}
}

static void add_globs(struct writer *w, bool denied)
{
	for (size_t i = 0; i < w->rules->n; i++) {
		const struct file_rule *rule = &w->rules->rules[i];

		if (rule->glob && !rule->firm && file_rule_read_rank(rule) &&
		    (rule->kind == FILE_DENY_READ) == denied)
			add_rule(w, denied ? "deny" : "allow", "file-read*", rule);
	}
}

static void add_reads(struct writer *w)
{
	str_add(w->out, "(allow file-read*)\n");
	if (!w->rules->denies_read)
		return;
	for (size_t i = 0; i < w->n_sorted; i++) {
		add_rule(w, read_verdict(w->sorted[i]), "file-read*", w->sorted[i]);
		add_root_rest(w, w->sorted[i]);
	}
	add_globs(w, false);
	add_below_globs(w, false);
	add_globs(w, true);
	add_below_globs(w, true);
	for (size_t i = 0; i < w->rules->n; i++)
		if (w->rules->rules[i].firm)
			add_rule(w, "deny", "file-read*", &w->rules->rules[i]);
	/* Names on the way to what may be read; their contents stay closed. */
	str_add(w->out, "(allow file-read-metadata (vnode-type DIRECTORY))\n");
}

/* --- writing --- */

/* In the working directory a protected name counts below it only: the project may be in such a one. */
static void add_cwd_again(struct writer *w)
{
	const char *cwd = w->rules->cwd;
	bool named = false;

	for (size_t i = 0; cwd && i < w->rules->n; i++)
		named |= w->rules->rules[i].kind == FILE_PROTECT &&
			 glob_cover(w->rules->rules[i].pattern, cwd) >= 0;
	if (!named)
		return;
	str_add(w->out, "(allow file-write* ");
	add_filter(w, "subpath", cwd);
	str_add(w->out, ")\n");
	for (size_t i = 0; i < w->rules->n; i++) {
		_cleanup_str_ struct str regex = { 0 };

		if (w->rules->rules[i].kind != FILE_PROTECT)
			continue;
		str_add(&regex, "^");
		regex_add_literal(&regex, cwd);
		str_add(&regex, "/(.*/)?");
		glob_add_regex(&regex, w->rules->rules[i].pattern, true);
		str_add(&regex, "(/.*)?$");
		str_add(w->out, "(deny file-write* ");
		add_filter(w, "regex", regex.s);
		str_add(w->out, ")\n");
	}
}

/* What may not be written may not be moved away with what lies above it, either. */
static void add_moves(struct writer *w, struct arena *arena)
{
	for (size_t i = 0; i < w->rules->n; i++) {
		const struct file_rule *rule = &w->rules->rules[i];
		char *dir;

		if (rule->kind != FILE_DENY_WRITE && rule->kind != FILE_DENY_READ)
			continue;
		for (dir = path_parent(arena, rule->path); strcmp(dir, "/") != 0;
		     dir = path_parent(arena, dir)) {
			str_add(w->out, "(deny file-write-unlink file-write-create ");
			add_filter(w, "literal", dir);
			str_add(w->out, ")\n");
		}
	}
}

static void add_writes(struct writer *w, const struct seatbelt *seatbelt, struct arena *arena)
{
	for (size_t i = 0; i < w->rules->n; i++)
		if (w->rules->rules[i].kind == FILE_ALLOW_WRITE)
			add_rule(w, "allow", "file-write*", &w->rules->rules[i]);
	for (size_t i = 0; i < w->rules->n; i++)
		if (w->rules->rules[i].kind == FILE_PROTECT)
			add_rule(w, "deny", "file-write*", &w->rules->rules[i]);
	add_cwd_again(w);
	/* What may not be read may not be written; and a denyWrite has the last word. */
	for (size_t i = 0; i < w->rules->n; i++)
		if (w->rules->rules[i].kind == FILE_DENY_READ ||
		    w->rules->rules[i].kind == FILE_DENY_WRITE)
			add_rule(w, "deny", "file-write*", &w->rules->rules[i]);
	add_moves(w, arena);
	if (seatbelt->tmpdir) {
		str_add(w->out, "(allow file-write* ");
		add_filter(w, "subpath", seatbelt->tmpdir);
		str_add(w->out, ")\n");
	}
	str_add(w->out, "(allow file-write* (literal \"/dev/null\") (literal \"/dev/zero\") "
			"(literal \"/dev/tty\") (literal \"/dev/dtracehelper\"))\n");
}

/* --- the network --- */

static void add_unix_sockets(struct writer *w, const struct exec_spec *exec)
{
	str_add(w->out, "(allow system-socket (socket-domain AF_UNIX))\n");
	if (exec->all_unix_sockets) {
		str_add(w->out, "(allow network-bind network-outbound (remote unix-socket))\n");
		return;
	}
	for (size_t i = 0; i < exec->unix_sockets.len; i++) {
		str_add(w->out, "(allow network-bind network-outbound (remote unix-socket ");
		add_filter(w, "subpath", exec->unix_sockets.v[i]);
		str_add(w->out, "))\n");
	}
}

static void add_network(struct writer *w, const struct seatbelt *seatbelt)
{
	if (seatbelt->open_network) {
		str_add(w->out, "(allow network*)\n");
		return;
	}
	add_unix_sockets(w, seatbelt->exec);
	if (seatbelt->exec->local_binding)
		str_add(w->out, "(allow network-bind (local ip \"*:*\"))\n"
				"(allow network-inbound (local ip \"*:*\"))\n"
				"(allow network-outbound (remote ip \"localhost:*\"))\n");
	if (seatbelt->proxy_port)
		str_addf(w->out, "(allow network-outbound (remote ip \"localhost:%u\"))\n",
			 seatbelt->proxy_port);
}

int seatbelt_add(struct str *out, const struct seatbelt *seatbelt, struct err *err)
{
	struct arena arena = { 0 };
	struct writer w = { .out = out, .rules = &seatbelt->exec->files, .err = err };

	str_add(out, "(version 1)\n(deny default (with message ");
	add_string(&w, seatbelt->tag);
	str_add(out, "))\n");
	str_add(out, builtin_seatbelt[0].data);
	add_network(&w, seatbelt);
	if (w.rules->disabled) {
		str_add(out, "(allow file-read*)\n(allow file-write*)\n");
	} else {
		sort_literals(&w, &arena);
		add_reads(&w);
		add_writes(&w, seatbelt, &arena);
	}
	if (seatbelt->exec->pty)
		str_add(out, "(allow pseudo-tty)\n(allow file-read* file-write* file-ioctl "
			     "(literal \"/dev/ptmx\") (regex \"^/dev/ttys[0-9]+$\"))\n");
	if (seatbelt->tty) {
		str_add(out, "(allow file-read* file-write* file-ioctl ");
		add_filter(&w, "literal", seatbelt->tty);
		str_add(out, ")\n");
	}
	arena_release(&arena);
	return w.r;
}
