/* SPDX-License-Identifier: MIT */
/* Between shell_lex.c, which reads words, and the grammar in shell.c and shell_compound.c. */
#pragma once

#include "spec/shell.h"

struct shell_here {
	char *end; /* the line that ends it */
	bool strip_tabs, quoted;
};

struct shell_reader {
	struct arena *arena;
	const char *text, *p, *end;
	struct shell_script *script;
	unsigned depth;
	unsigned substituted; /* how many substitutions we are in */
	struct shell_here *here;
	size_t n_here;      /* here-documents whose bodies begin at the next newline */
	bool outer_here;    /* the text around this substitution waits for some */
	unsigned in_double; /* double quotes we are in */
	bool in_here;       /* this is a here-document's body */
	struct err *err;
};

int shell_fail(struct shell_reader *r, const char *what);
int shell_deeper(struct shell_reader *r);

/* Blanks, continued lines and comments; not newlines. */
void shell_skip_blank(struct shell_reader *r);
/* True where a word ends. */
bool shell_is_meta(char c);
/* The word that begins at r->p, which is no blank and no operator; <( and >( begin words. */
int shell_read_word(struct shell_reader *r, struct shell_word *ret);
/* What stands between (( and )), behind the first two; leaves r->p behind the last. 'loop': it is
 * that of a for, with semicolons. */
int shell_skip_arithmetic(struct shell_reader *r, bool loop);
/* The newline at r->p, and the here-documents that begin after it. */
int shell_read_newline(struct shell_reader *r);

/* --- shell.c --- */

char shell_at(const struct shell_reader *r, size_t n); /* 0 behind the end */
bool shell_take(struct shell_reader *r, const char *op);
/* A reserved word stands here, as a whole word. */
bool shell_at_word(const struct shell_reader *r, const char *word);
bool shell_take_word(struct shell_reader *r, const char *word);
/* Blanks, comments and newlines with the here-documents behind them. */
int shell_skip_space(struct shell_reader *r);

/* Where a list of commands ends. */
struct shell_list_end {
	char close;               /* this character, which is taken */
	const char *const *words; /* one of these, which is left */
	bool branch;              /* ';;' and its kin, or 'esac', which are left */
};

int shell_read_commands(struct shell_reader *r, const struct shell_list_end *end);
/* The same up to 'close' (')', or 0 for the end of the text). */
int shell_read_list(struct shell_reader *r, char close);
/* Redirections behind a compound command; they make a part without words. */
int shell_read_redirects(struct shell_reader *r);
/* What follows NAME (): only the body runs something. */
int shell_read_function(struct shell_reader *r);

/* --- shell_compound.c --- */

/* A command that is no simple one; *ret_done says whether there was one. */
int shell_read_compound(struct shell_reader *r, bool *ret_done);
