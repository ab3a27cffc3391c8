/* SPDX-License-Identifier: MIT */
/* What 'wrapix exec' and 'srt' say of a command, wherever it is run; for exec.c and exec_inside.c. */
#pragma once

#include "cli/denials.h"
#include "cli/exec.h"

struct speaker {
	const struct exec_args *args;
	int report;      /* --violations; -1: none */
	size_t reported; /* bytes of it */
	bool debug;
	bool annotate;           /* an agent reads the command's standard error */
	const struct exec *exec; /* the command, where it is this process that runs it */
	struct denials denials;
};

/* Hooks of struct exec_hooks; ctx is the speaker. */
void speaker_warning(void *ctx, const char *text);
void speaker_weaker(void *ctx, const char *text);
void speaker_unused(void *ctx, const char *text);
void speaker_unlogged(void *ctx, const char *text);
void speaker_debug(void *ctx, const char *text);
void speaker_event(void *ctx, const char *line);
void speaker_settings(void *ctx, bool control, const char *why);

/* Something was refused, as a line of sandbox-runtime's: true when to count it was all that there is to
 * do. Else what it was and what would allow it (or NULL) is told to speaker_denied(). */
bool speaker_counts(struct speaker *s, const char *line, bool *ret_again);
void speaker_denied(struct speaker *s, bool again, const char *line, const char *text,
		    const char *change);

/* A whole line on standard error. */
void speaker_line(const char *line);
/* What was refused, at the end; and what it kept. */
void speaker_end(struct speaker *s);

/* exec_inside.c: inside of a sandbox that lends a process, a connection to it; -errno: this is none. And
 * the command through it, to the exit status. */
struct exec_request;
int exec_knock(void);
int exec_inside(struct speaker *s, const struct exec_request *request, int door);

/* Why the command was not run; each returns the exit status. */
int speaker_fail(const struct speaker *s, const struct err *err);
int speaker_fail_text(const struct speaker *s, const char *text);
/* The two lines of settings that are wrong, which hold other people's words. */
int speaker_fail_settings(const struct speaker *s, const char *why);
