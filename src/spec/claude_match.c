/* SPDX-License-Identifier: MIT */
/*
 * One part of a command as rules see it. For denying, every way to read it counts: without quotes,
 * without the program's directory, behind 'sudo' and the like, inside 'sh -c'. For allowing, only
 * the plain one.
 */
#include <ctype.h>
#include <string.h>

#include "base/path.h"
#include "spec/claude_check.h"

enum { FORMS_MAX_DEPTH = 4, FORMS_MAX = 4000 };

/* Programs that run the words behind them. */
static const char *const runners[] = { "sudo",     "doas",    "env",     "command",  "builtin",
				       "exec",     "xargs",   "nohup",   "nice",     "timeout",
				       "stdbuf",   "setsid",  "ionice",  "chrt",     "unshare",
				       "strace",   "watch",   "busybox", "time",     "flock",
				       "chroot",   "taskset", "script",  "parallel", "eatmydata",
				       "fakeroot", "nsenter", "su" };
/* find's options that do the same. */
static const char *const exec_options[] = { "-exec", "-execdir", "-ok", "-okdir" };
static const char *const shells[] = { "sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish" };

#define IS_ONE_OF(list, word) is_one_of(list, ARRAY_LEN(list), word)
static bool is_one_of(const char *const *list, size_t n, const char *word)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i], word))
			return true;
	return false;
}

/* The words from i on; with 'base' the first without its directory. */
static char *join(struct arena *arena, const struct shell_part *part, size_t i, bool base)
{
	_cleanup_str_ struct str out = { 0 };

	str_add(&out, base ? path_name(part->words[i].plain) : part->words[i].plain);
	for (i++; i < part->n_words; i++)
		str_addf(&out, " %s", part->words[i].plain);
	return arena_strdup(arena, out.s);
}

static void add_text(struct arena *arena, const char *text, unsigned depth, struct strv *ret,
		     bool *ret_opaque)
{
	struct shell_script script;
	struct err err;

	if (depth >= FORMS_MAX_DEPTH || shell_split(arena, text, &script, &err) < 0) {
		*ret_opaque = true;
		return;
	}
	for (size_t i = 0; i < script.n_parts; i++)
		claude_forms(arena, &script.parts[i], depth + 1, ret, ret_opaque);
}

/* 'sh -c TEXT' and 'eval TEXT' that begin at word i. */
static void add_shell(struct arena *arena, const struct shell_part *part, size_t i, unsigned depth,
		      struct strv *ret, bool *ret_opaque)
{
	const char *program = path_name(part->words[i].plain);
	size_t at = i + 1;

	if (!strcmp(program, "eval")) {
		for (size_t k = at; k < part->n_words; k++)
			*ret_opaque |= part->words[k].dynamic;
		if (at < part->n_words)
			add_text(arena, join(arena, part, at, false), depth, ret, ret_opaque);
		return;
	}
	if (!IS_ONE_OF(shells, program))
		return;
	while (at < part->n_words && part->words[at].plain[0] == '-') {
		const char *option = part->words[at++].plain;

		if (option[1] == '-' || !strchr(option, 'c'))
			continue;
		if (at >= part->n_words)
			return;
		*ret_opaque |= part->words[at].dynamic;
		add_text(arena, part->words[at].plain, depth, ret, ret_opaque);
		return;
	}
}

static void add_from(struct arena *arena, const struct shell_part *part, size_t i, unsigned depth,
		     struct strv *ret, bool *ret_opaque)
{
	if (ret->len > FORMS_MAX) {
		*ret_opaque = true;
		return;
	}
	if (part->words[i].dynamic || part->words[i].glob)
		*ret_opaque = true;
	strv_add(arena, ret, join(arena, part, i, false));
	if (strchr(part->words[i].plain, '/'))
		strv_add(arena, ret, join(arena, part, i, true));
	add_shell(arena, part, i, depth, ret, ret_opaque);
}

void claude_forms(struct arena *arena, const struct shell_part *part, unsigned depth,
		  struct strv *ret, bool *ret_opaque)
{
	bool runs = false;

	if (!part->n_words)
		return;
	strv_add(arena, ret, part->raw);
	add_from(arena, part, 0, depth, ret, ret_opaque);
	for (size_t i = 1; i < part->n_words; i++) {
		const char *before = part->words[i - 1].plain;

		runs = runs || IS_ONE_OF(runners, path_name(before)) ||
		       IS_ONE_OF(exec_options, before);
		/* Which word the program is depends on options; each could be. */
		if (runs && part->words[i].plain[0] != '-' && !strchr(part->words[i].plain, '='))
			add_from(arena, part, i, depth, ret, ret_opaque);
	}
}

static bool is_number(const char *s)
{
	return *s && s[strspn(s, "0123456789.smhd")] == '\0';
}

/* 'timeout 5 CMD', 'nohup CMD', 'nice CMD': how many words to leave out. */
static size_t harmless_prefix(const struct shell_part *part)
{
	const struct shell_word *w = part->words;

	if (part->n_words > 2 && !strcmp(w[0].raw, "timeout") && is_number(w[1].raw))
		return 2;
	if (part->n_words > 1 && (!strcmp(w[0].raw, "nohup") || !strcmp(w[0].raw, "nice")) &&
	    w[1].raw[0] != '-')
		return 1;
	return 0;
}

const char *claude_allow_form(struct arena *arena, const struct shell_part *part)
{
	_cleanup_str_ struct str out = { 0 };
	size_t from;

	if (!part->n_words || part->n_assignments)
		return NULL;
	from = harmless_prefix(part);
	if (part->words[from].dynamic || part->words[from].glob || part->words[from].quoted)
		return NULL;
	for (size_t i = from; i < part->n_words; i++)
		str_addf(&out, "%s%s", i > from ? " " : "", part->words[i].raw);
	return arena_strdup(arena, out.s);
}
