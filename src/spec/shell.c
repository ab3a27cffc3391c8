/* SPDX-License-Identifier: MIT */
/*
 * The grammar of a shell: lists, pipelines, simple commands and their redirections. Recursive
 * descent; the only result is the flat list of simple commands.
 */
#include "spec/shell.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "spec/shell_lex.h"

char shell_at(const struct shell_reader *r, size_t n)
{
	return (char)((size_t)(r->end - r->p) > n ? r->p[n] : '\0');
}

bool shell_take(struct shell_reader *r, const char *op)
{
	size_t n = strlen(op);

	if ((size_t)(r->end - r->p) < n || memcmp(r->p, op, n))
		return false;
	r->p += n;
	return true;
}

int shell_skip_space(struct shell_reader *r)
{
	int k = 0;

	for (shell_skip_blank(r); k == 0 && shell_at(r, 0) == '\n'; shell_skip_blank(r))
		k = shell_read_newline(r);
	return k;
}

bool shell_at_word(const struct shell_reader *r, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(r->end - r->p) >= n && !memcmp(r->p, word, n) &&
	       shell_is_meta(shell_at(r, n));
}

bool shell_take_word(struct shell_reader *r, const char *word)
{
	if (!shell_at_word(r, word))
		return false;
	r->p += strlen(word);
	return true;
}

static int add_part(struct shell_reader *r, struct shell_part *part)
{
	_cleanup_str_ struct str raw = { 0 };

	if (r->script->n_parts >= SHELL_MAX_PARTS)
		return shell_fail(r, "too many commands");
	str_add(&raw, "");
	for (size_t i = 0; i < part->n_words; i++)
		str_addf(&raw, "%s%s", i ? " " : "", part->words[i].raw);
	part->raw = arena_strdup(r->arena, raw.s);
	part->substituted = r->substituted > 0;
	*(struct shell_part *)arena_grow(r->arena, &r->script->parts, &r->script->n_parts,
					 sizeof(*part)) = *part;
	return 0;
}

/* --- redirections --- */

static const struct redirect_op {
	const char *op;
	enum shell_redirect_kind kind;
	bool strip_tabs;
} redirect_ops[] = {
	{ "<<<", SHELL_READ },  { "<<-", SHELL_HERE, true }, { "<<", SHELL_HERE },
	{ "<&", SHELL_DUP },    { ">&", SHELL_DUP },         { "<>", SHELL_WRITE },
	{ "&>>", SHELL_WRITE }, { "&>", SHELL_WRITE },       { ">>", SHELL_WRITE },
	{ ">|", SHELL_WRITE },  { ">", SHELL_WRITE },        { "<", SHELL_READ },
};

/* Passes over the digits or the {name} before an operator, when that is what stands here. */
static const char *redirect_at(const struct shell_reader *r)
{
	const char *p = r->p;

	if (p < r->end && *p == '{') {
		for (p++; p < r->end && (isalnum((unsigned char)*p) || *p == '_');)
			p++;
		if (p >= r->end || *p++ != '}')
			return NULL;
	} else {
		while (p < r->end && isdigit((unsigned char)*p))
			p++;
	}
	if (p >= r->end || (p > r->p && *p == '&'))
		return NULL;
	if (*p == '<' || *p == '>')
		return p + 1 < r->end && p[1] == '(' ? NULL : p;
	return *p == '&' && p + 1 < r->end && p[1] == '>' ? p : NULL;
}

static bool is_descriptor(const struct shell_word *word)
{
	const char *p = word->plain;

	while (isdigit((unsigned char)*p))
		p++;
	return !word->dynamic && (!*p || (!strcmp(p, "-")));
}

static void note_here(struct shell_reader *r, const struct redirect_op *op,
		      const struct shell_word *end)
{
	struct shell_here *here = arena_grow(r->arena, &r->here, &r->n_here, sizeof(*here));

	*here = (struct shell_here){ .end = arena_strdup(r->arena, end->plain),
				     .strip_tabs = op->strip_tabs,
				     .quoted = end->quoted };
	r->script->here = true;
}

static int read_redirect(struct shell_reader *r, const char *from, struct shell_part *part)
{
	const struct redirect_op *op = NULL;
	struct shell_redirect *redirect;
	struct shell_word word = { .raw = "", .plain = "" };
	int k;

	r->p = from;
	for (size_t i = 0; !op && i < ARRAY_LEN(redirect_ops); i++)
		if (shell_take(r, redirect_ops[i].op))
			op = &redirect_ops[i];
	if (!op)
		return shell_fail(r, "an unknown redirection");
	shell_skip_blank(r);
	if (shell_is_meta(shell_at(r, 0)) &&
	    !((shell_at(r, 0) == '<' || shell_at(r, 0) == '>') && shell_at(r, 1) == '('))
		return shell_fail(r, "a redirection without a file");
	k = shell_read_word(r, &word);
	if (k < 0)
		return k;
	if (op->kind == SHELL_HERE) {
		if (word.dynamic)
			return shell_fail(r, "a here-document whose end is not known");
		note_here(r, op, &word);
	}
	redirect = arena_grow(r->arena, &part->redirects, &part->n_redirects, sizeof(*redirect));
	*redirect = (struct shell_redirect){ .kind = op->kind, .target = word };
	if (!strcmp(op->op, "<<<"))
		redirect->kind = SHELL_HERE; /* a word, no file */
	else if (op->kind == SHELL_DUP && !is_descriptor(&word))
		redirect->kind = SHELL_WRITE; /* >&FILE */
	return 0;
}

int shell_read_redirects(struct shell_reader *r)
{
	struct shell_part part = { 0 };
	const char *from;
	int k = 0;

	for (shell_skip_blank(r); k == 0 && (from = redirect_at(r)); shell_skip_blank(r))
		k = read_redirect(r, from, &part);
	return k == 0 && part.n_redirects ? add_part(r, &part) : k;
}

/* --- simple commands --- */

static bool is_assignment(const struct shell_word *word)
{
	const char *p = word->raw;

	if (!isalpha((unsigned char)*p) && *p != '_')
		return false;
	while (isalnum((unsigned char)*p) || *p == '_')
		p++;
	if (*p == '[')
		return strstr(p, "]=") || strstr(p, "]+=");
	return *p == '=' || (*p == '+' && p[1] == '=');
}

static bool is_reserved(const struct shell_word *word)
{
	static const char *const words[] = { "then", "else", "elif", "fi",     "do",
					     "done", "esac", "}",    "coproc", "in" };

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (!strcmp(word->raw, words[i]))
			return true;
	return false;
}

static int add_word(struct shell_reader *r, struct shell_part *part)
{
	struct shell_word word, *slot;
	int k = shell_read_word(r, &word);

	if (k < 0)
		return k;
	if (!part->n_words && is_assignment(&word)) {
		slot = arena_grow(r->arena, &part->assignments, &part->n_assignments,
				  sizeof(*slot));
	} else if (!part->n_words && is_reserved(&word)) {
		return shell_fail(r, "a word that belongs elsewhere");
	} else {
		slot = arena_grow(r->arena, &part->words, &part->n_words, sizeof(*slot));
	}
	*slot = word;
	return 0;
}

static int read_command(struct shell_reader *r);

int shell_read_function(struct shell_reader *r)
{
	int k = shell_skip_space(r);

	if (k == 0 && shell_at(r, 0) != '{' && shell_at(r, 0) != '(')
		return shell_fail(r, "a function without a body");
	return k < 0 ? k : read_command(r);
}

static int read_simple(struct shell_reader *r)
{
	struct shell_part part = { 0 };
	int k = 0;

	for (shell_skip_blank(r); k == 0; shell_skip_blank(r)) {
		const char *from = redirect_at(r);
		bool inner = (shell_at(r, 0) == '<' || shell_at(r, 0) == '>') &&
			     shell_at(r, 1) == '(';

		if (from) {
			k = read_redirect(r, from, &part);
		} else if (shell_at(r, 0) == '(' && part.n_words == 1 && !part.n_assignments &&
			   !part.n_redirects && !part.words[0].quoted) {
			r->p++;
			shell_skip_blank(r);
			return shell_take(r, ")") ? shell_read_function(r)
						  : shell_fail(r, "a bracket in a command");
		} else if (shell_is_meta(shell_at(r, 0)) && !inner) {
			break;
		} else {
			k = add_word(r, &part);
		}
	}
	if (k == 0 && !part.n_words && !part.n_assignments && !part.n_redirects)
		k = shell_fail(r, "a command is missing");
	return k < 0 ? k : add_part(r, &part);
}

/* --- lists --- */

static bool at_branch_end(const struct shell_reader *r)
{
	return (shell_at(r, 0) == ';' && (shell_at(r, 1) == ';' || shell_at(r, 1) == '&')) ||
	       shell_at_word(r, "esac");
}

static bool at_end(const struct shell_reader *r, const struct shell_list_end *end)
{
	for (size_t i = 0; end->words && end->words[i]; i++)
		if (shell_at_word(r, end->words[i]))
			return true;
	if (end->branch)
		return at_branch_end(r);
	if (end->close)
		return shell_at(r, 0) == end->close && r->p < r->end;
	return !end->words && r->p >= r->end;
}

/* What joins two commands; *ret_must says whether another has to follow. */
static int read_joint(struct shell_reader *r, bool branch, bool *ret_must)
{
	shell_skip_blank(r);
	*ret_must = shell_take(r, "&&") || shell_take(r, "||") || shell_take(r, "|&") ||
		    shell_take(r, "|");
	if (*ret_must || shell_take(r, "&"))
		return shell_skip_space(r);
	if (shell_at(r, 0) == ';' && (shell_at(r, 1) == ';' || shell_at(r, 1) == '&'))
		return branch ? 0 : shell_fail(r, "a ';;' outside of a case");
	(void)shell_take(r, ";");
	return shell_skip_space(r);
}

int shell_read_commands(struct shell_reader *r, const struct shell_list_end *end)
{
	bool must = end->words != NULL;
	int k = shell_skip_space(r);

	while (k == 0 && (must || !at_end(r, end))) {
		const char *before = r->p;

		if (r->p >= r->end)
			return shell_fail(r, "the command ends too early");
		k = read_command(r);
		if (k == 0)
			k = read_joint(r, end->branch, &must);
		if (k == 0 && r->p == before)
			k = shell_fail(r, "not understood");
	}
	if (k == 0 && end->close)
		r->p++;
	return k;
}

/* One command of a pipeline, with what may stand before it. */
static int read_command(struct shell_reader *r)
{
	bool compound = false;
	int k = shell_deeper(r);

	if (k == 0)
		k = shell_skip_space(r);
	while (k == 0 && (shell_take_word(r, "!") || shell_take_word(r, "time"))) {
		shell_skip_blank(r);
		(void)shell_take_word(r, "-p");
		k = shell_skip_space(r);
	}
	if (k == 0)
		k = shell_read_compound(r, &compound);
	if (k == 0 && !compound)
		k = read_simple(r);
	r->depth--;
	return k;
}

int shell_read_list(struct shell_reader *r, char close)
{
	return shell_read_commands(r, &(struct shell_list_end){ .close = close });
}

int shell_split(struct arena *arena, const char *text, struct shell_script *ret, struct err *err)
{
	struct shell_script script = { 0 };
	size_t len = strlen(text);
	struct shell_reader r = { .arena = arena,
				  .text = text,
				  .p = text,
				  .end = text + len,
				  .script = &script,
				  .err = err };
	int k;

	if (len > SHELL_MAX_SIZE)
		return err_usage(err, "column 1: longer than %d bytes", SHELL_MAX_SIZE);
	k = shell_read_list(&r, '\0');
	if (k == 0 && r.n_here)
		k = shell_fail(&r, "a here-document that does not end");
	if (k == 0)
		*ret = script;
	return k;
}
