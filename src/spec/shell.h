/* SPDX-License-Identifier: MIT */
/*
 * A shell command taken apart into the simple commands that it can run, wherever they stand: in
 * pipelines, lists, subshells, substitutions, loops, functions, here-documents. For deciding about
 * a command before it runs; nothing is expanded or executed.
 *
 * The grammar is bash's. What is not understood is an error, never a guess: the caller must not
 * allow such a command.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"

enum {
	SHELL_MAX_SIZE = 1 << 17,
	SHELL_MAX_DEPTH = 40,
	SHELL_MAX_PARTS = 2000,
};

struct shell_word {
	const char *raw;   /* as written */
	const char *plain; /* without its quotes; what is dynamic in it is left out */
	bool dynamic;      /* holds an expansion, so its value is not known */
	bool glob;         /* unquoted * ? [ */
	bool quoted;       /* any of it */
};

enum shell_redirect_kind { SHELL_READ, SHELL_WRITE, SHELL_HERE, SHELL_DUP };

struct shell_redirect {
	enum shell_redirect_kind kind;
	struct shell_word target; /* a file; a descriptor for SHELL_DUP; nothing for SHELL_HERE */
};

struct shell_part {
	struct shell_word *words; /* what is left without assignments before it and redirections */
	size_t n_words;           /* 0: assignments alone, or redirections of a group */
	struct shell_word *assignments;
	size_t n_assignments;
	struct shell_redirect *redirects;
	size_t n_redirects;
	const char *raw;  /* the words as written, one space between them */
	bool substituted; /* stands in a $(...), `...` or <(...) */
};

struct shell_script {
	struct shell_part *parts;
	size_t n_parts;
	bool substitution; /* there is a $(...), `...` or <(...) */
	bool here;         /* there is a here-document */
};

/* Everything lives in the arena. -EINVAL: "column N: what is not understood". */
int shell_split(struct arena *arena, const char *text, struct shell_script *ret, struct err *err);
