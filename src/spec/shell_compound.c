/* SPDX-License-Identifier: MIT */
/* Compound commands of a shell: conditions, loops, cases, tests, groups, functions. */
#include <string.h>

#include "base/str.h"
#include "spec/shell_lex.h"

static int want_word(struct shell_reader *r, const char *word)
{
	_cleanup_str_ struct str what = { 0 };
	int k = shell_skip_space(r);

	if (k < 0 || shell_take_word(r, word))
		return k;
	str_addf(&what, "'%s' is missing", word);
	return shell_fail(r, what.s);
}

static int read_until(struct shell_reader *r, const char *const *words)
{
	return shell_read_commands(r, &(struct shell_list_end){ .words = words });
}
#define UNTIL(r, ...) read_until(r, (const char *const[]){ __VA_ARGS__, NULL })

static int read_if(struct shell_reader *r)
{
	int k = UNTIL(r, "then");

	if (k == 0)
		k = want_word(r, "then");
	if (k == 0)
		k = UNTIL(r, "elif", "else", "fi");
	if (k == 0 && shell_take_word(r, "elif")) {
		k = shell_deeper(r);
		if (k == 0)
			k = read_if(r);
		r->depth--;
		return k;
	}
	if (k == 0 && shell_take_word(r, "else"))
		k = UNTIL(r, "fi");
	return k < 0 ? k : want_word(r, "fi");
}

static int read_do(struct shell_reader *r)
{
	int k = want_word(r, "do");

	if (k == 0)
		k = UNTIL(r, "done");
	return k < 0 ? k : want_word(r, "done");
}

static int read_while(struct shell_reader *r)
{
	int k = UNTIL(r, "do");

	return k < 0 ? k : read_do(r);
}

static int read_for(struct shell_reader *r)
{
	struct shell_word word;
	int k;

	shell_skip_blank(r);
	if (shell_take(r, "((")) {
		k = shell_skip_arithmetic(r, true);
	} else {
		k = shell_is_meta(shell_at(r, 0)) ? shell_fail(r, "a for without a name")
						  : shell_read_word(r, &word);
		if (k == 0)
			k = shell_skip_space(r);
		if (k == 0 && shell_take_word(r, "in"))
			for (shell_skip_blank(r); k == 0 && !shell_is_meta(shell_at(r, 0));
			     shell_skip_blank(r))
				k = shell_read_word(r, &word);
	}
	if (k < 0)
		return k;
	shell_skip_blank(r);
	(void)shell_take(r, ";");
	return read_do(r);
}

/* One branch of a case: patterns, then commands up to ';;' or 'esac'. */
static int read_branch(struct shell_reader *r)
{
	struct shell_word word;
	int k = 0;

	(void)shell_take(r, "(");
	for (shell_skip_blank(r); k == 0 && !shell_take(r, ")"); shell_skip_blank(r)) {
		if (shell_take(r, "|"))
			continue;
		k = shell_is_meta(shell_at(r, 0)) ? shell_fail(r, "a pattern that does not end")
						  : shell_read_word(r, &word);
	}
	if (k == 0)
		k = shell_read_commands(r, &(struct shell_list_end){ .branch = true });
	if (k == 0 && !shell_take(r, ";;&") && !shell_take(r, ";;"))
		(void)shell_take(r, ";&");
	return k < 0 ? k : shell_skip_space(r);
}

static int read_case(struct shell_reader *r)
{
	struct shell_word word;
	int k;

	shell_skip_blank(r);
	k = shell_is_meta(shell_at(r, 0)) ? shell_fail(r, "a case without a word")
					  : shell_read_word(r, &word);
	if (k == 0)
		k = want_word(r, "in");
	if (k == 0)
		k = shell_skip_space(r);
	while (k == 0 && !shell_at_word(r, "esac"))
		k = r->p < r->end ? read_branch(r) : shell_fail(r, "a case that does not end");
	return k < 0 ? k : want_word(r, "esac");
}

/* [[ ... ]]: words and operators; nothing runs but what is substituted. */
static int read_test(struct shell_reader *r)
{
	struct shell_word word = { .raw = "" };
	int k = 0;

	while (k == 0) {
		char c = shell_at(r, 0);

		if (r->p >= r->end || c == ';' || c == '#')
			return shell_fail(r, "a [[ that is not understood");
		if (shell_take_word(r, "]]"))
			return 0;
		if (c == '\n')
			k = shell_read_newline(r);
		else if (shell_is_meta(c) && !((c == '<' || c == '>') && shell_at(r, 1) == '('))
			r->p++;
		else
			k = shell_read_word(r, &word);
	}
	return k;
}

static int read_group(struct shell_reader *r)
{
	int k = UNTIL(r, "}");

	return k < 0 ? k : want_word(r, "}");
}

static int read_named_function(struct shell_reader *r)
{
	struct shell_word name;
	int k;

	shell_skip_blank(r);
	k = shell_is_meta(shell_at(r, 0)) ? shell_fail(r, "a function without a name")
					  : shell_read_word(r, &name);
	if (k < 0)
		return k;
	shell_skip_blank(r);
	if (shell_take(r, "(")) {
		shell_skip_blank(r);
		if (!shell_take(r, ")"))
			return shell_fail(r, "a function with an argument");
	}
	return shell_read_function(r);
}

static const struct {
	const char *word;
	int (*read)(struct shell_reader *r);
} compounds[] = {
	{ "if", read_if },   { "while", read_while }, { "until", read_while },
	{ "for", read_for }, { "select", read_for },  { "case", read_case },
	{ "[[", read_test }, { "{", read_group },     { "function", read_named_function },
};

int shell_read_compound(struct shell_reader *r, bool *ret_done)
{
	int k = 0;

	*ret_done = true;
	if (shell_take(r, "((")) {
		k = shell_skip_arithmetic(r, false);
	} else if (shell_take(r, "(")) {
		k = shell_read_list(r, ')');
	} else {
		size_t i = 0;

		while (i < ARRAY_LEN(compounds) && !shell_take_word(r, compounds[i].word))
			i++;
		*ret_done = i < ARRAY_LEN(compounds);
		if (*ret_done)
			k = compounds[i].read(r);
	}
	return k == 0 && *ret_done ? shell_read_redirects(r) : k;
}
