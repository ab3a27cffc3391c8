/* SPDX-License-Identifier: MIT */
/*
 * Completion scripts, made from the tables of commands and options. Only the frame of each script is fixed text; every
 * command, option and word comes from a row.
 */
#pragma once

#include "cli/cli.h"

/* How a script asks for the names of running sessions; a text of the frame, where the program's own words stand
 * after 'command'. */
#define COMPLETION_SESSIONS "command wrapix completion --sessions 2>/dev/null"

/* What a shell is told of an argument, by its kind. */
struct completion_actions {
	const char *before_words, *after_words;    /* around those that it can be */
	const char *of_kind[COMPLETE_COMMAND + 1]; /* texts of the frame, for what has no words */
};

/* The whole script for a shell. */
void completion_add_bash(struct str *out);
void completion_add_zsh(struct str *out);
void completion_add_fish(struct str *out);

/* Text of the frame, which is written for wrapix: with completion_name() in its place. */
void completion_add_frame(struct str *out, const char *text);
/* The names of all commands, with a blank between them. */
void completion_add_commands(struct str *out);
/* How an argument is completed; 'words': those of COMPLETE_WORDS. */
void completion_add_action(struct str *out, const struct completion_actions *actions,
			   enum opt_complete complete, const char *const *words);
/* Every way to write the options of a table: "-v --verbose --only". */
void completion_add_options(struct str *out, const struct opt *table);
/* The words that an operand can be, the first or a later one; NULL: any. */
const char *const *completion_operand_words(const struct opt_syntax *syntax);
const char *const *completion_rest_words(const struct opt_syntax *syntax);
/* Is the first operand an action, and the others are something else? */
bool completion_has_actions(const struct opt_syntax *syntax);
/* What the functions of the script are called by, and the program by it. */
const char *completion_name(void);
/* Is one of the commands a program, with a script of its own? */
bool completion_has_programs(void);
