/* SPDX-License-Identifier: MIT */
/*
 * Options as rows of a table. The parser, --help, the shell completions and the test that compares
 * the manual with the program all read the same rows, so none of them can drift from the others.
 *
 * Parsing is GNU's without abbreviations: '-n X', '-nX', '--name X', '--name=X', clusters of flags,
 * options and operands in any order, '--' ends the options.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

struct opt;

/* value is NULL for an option without an argument. */
typedef int opt_call_fn(void *ctx, const struct opt *opt, const char *value, struct err *err);

/* The words an option takes, by the option's long name; NULL-terminated; NULL when there are none. */
typedef const char *const *opt_words_fn(const char *name);

enum opt_kind {
	OPT_END,    /* the last row */
	OPT_MORE,   /* the last row too: the table goes on in 'more' */
	OPT_FLAG,   /* sets the bool at 'offset' */
	OPT_STRING, /* points the const char * at 'offset' to the argument */
	OPT_CALL,   /* calls 'call' each time it is given */
	OPT_HELP,   /* ends the parsing with OPT_WANTS_HELP */
};

/* What a shell offers for an argument. */
enum opt_complete {
	COMPLETE_NONE,
	COMPLETE_WORDS, /* what 'words' lists */
	COMPLETE_FILE,
	COMPLETE_DIR,
	COMPLETE_PROGRAM,
	COMPLETE_ENV,     /* names of variables */
	COMPLETE_SESSION, /* names of running sessions */
	COMPLETE_COMMAND, /* subcommands of wrapix */
};

struct opt {
	char letter;      /* 0: none */
	const char *name; /* without the dashes */
	const char *arg;  /* what the argument is called; NULL: there is none */
	enum opt_kind kind;
	const char *help;
	size_t offset; /* into ctx */
	opt_call_fn *call;
	opt_words_fn *words; /* an OPT_STRING takes no other word than these; a shell offers them */
	enum opt_complete complete;
	bool repeat; /* may be given more than once, and each counts */
	const struct opt *more;
};

/* What a command line may hold. */
struct opt_syntax {
	const struct opt *opts;
	unsigned int min, max; /* operands */
	const char *operand;   /* what one is called, for messages: "DIR" */
	enum opt_complete complete;
	opt_words_fn *words;
	enum opt_complete rest; /* where the first is one of the words: what the others are */
	opt_words_fn *rest_words;
	bool command; /* what follows '--' is a command of its own, not more operands */
};

/* What is left when the options are taken out. The strings are argv's. */
struct opt_rest {
	char **operands; /* NULL-terminated */
	size_t n_operands;
	char **command; /* NULL: no '--' was given, or the syntax has no command */
	/* Where it failed for a '--name' that no row has: that name, to its end or '='. */
	const char *unknown;
};

enum { OPT_WANTS_HELP = 1 };

/*
 * Parses argv[1] and on into ctx and ret_rest; argv stays as it is and may be parsed again.
 * Returns 0, OPT_WANTS_HELP, or -EINVAL with a message that names the nearest valid word. The
 * argument of an option is never a bare '--': that is a forgotten argument ('--name=--' can still
 * say it). ret_rest is to be released when 0 was returned.
 */
int opt_parse(const struct opt_syntax *syntax, void *ctx, int argc, char *const *argv,
	      struct opt_rest *ret_rest, struct err *err);
void opt_rest_release(struct opt_rest *rest);
#define _cleanup_opt_rest_ _cleanup_(opt_rest_release)

/* Walks the rows across OPT_MORE: for (o = opt_first(table); o; o = opt_next(o)). */
const struct opt *opt_first(const struct opt *table);
const struct opt *opt_next(const struct opt *opt);

/* The words of an option's argument; NULL when any will do. */
const char *const *opt_words(const struct opt *opt);

/* Adds the rows as aligned text, wrapped at width columns. */
void opt_add_help(struct str *str, const struct opt *table, size_t width);

/* Adds text wrapped at width columns, every line but the first led in by indent spaces; column is
 * where the first line already stands. Adds a newline at the end. */
void opt_add_wrapped(struct str *str, const char *text, size_t column, size_t indent, size_t width);
