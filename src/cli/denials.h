/* SPDX-License-Identifier: MIT */
/* What was refused while a command ran, told at its end: to the user in a few lines, to an agent as
 * the block that sandbox-runtime appends to the command's standard error. */
#pragma once

#include "base/arena.h"
#include "session/denial.h"

enum { DENIALS_SHOWN = 4, DENIALS_ANNOTATED = 100 };

struct denials {
	struct {
		char key[512]; /* what it is known by */
		char text[512];
		unsigned long count;
	} v[DENIALS_SHOWN];
	size_t n;
	unsigned long others; /* that found no place */
	char log[32];         /* the session whose log has them all; "": there is none */
	struct arena arena;
	struct strv lines; /* for an agent */
};

/* Counts one that was there before, by its key; true when nothing more is to be done for it. A flood is
 * counted, not stored. */
bool denials_again(struct denials *denials, const char *key);
/* Any other one. 'fix' may be NULL. The text is safe for a terminal. */
void denials_add(struct denials *denials, const char *key, const char *text, const char *fix);
void denials_print(const struct denials *denials, const char *hint);
/* "<sandbox_violations>" and its end, on standard error; nothing where nothing was refused. */
void denials_annotate(const struct denials *denials);
void denials_add_line(struct denials *denials, const char *line, const char *fix);
void denials_release(struct denials *denials);
