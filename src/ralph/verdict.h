/* SPDX-License-Identifier: MIT */
/* How a step ended, and the signal by which an agent says so itself. */
#pragma once

#include "base/str.h"

enum verdict {
	VERDICT_NONE,     /* it still runs */
	VERDICT_COMPLETE, /* the agent says that the task is done */
	VERDICT_BLOCKED,  /* it cannot be done before something else happens; the text says what */
	VERDICT_CLARIFY,  /* the agent has a question for the user */
	VERDICT_FAILED,   /* it ended without a signal, or with an error of its own */
	VERDICT_CRASHED,  /* the stream broke off */
	VERDICT_TIMEOUT,  /* silence, or no end after its result */
	VERDICT_BUDGET,   /* time or money ran out */
	VERDICT_GATE,     /* it says complete, and the gate says no */
	VERDICT_CONFLICT, /* what it did does not fit what others did meanwhile */
	VERDICT_REFUSED,  /* it changed what it must not change */
	VERDICT_HOOK,     /* a hook stopped it */
	VERDICT_KILLED,   /* ralph itself was ended while it ran */
	VERDICT_COUNT
};

/* "complete", "blocked", ...; and back, VERDICT_NONE for any other word. */
const char *verdict_name(enum verdict verdict);
enum verdict verdict_of(const char *name);

/*
 * The signal of a final result: VERDICT_COMPLETE, _BLOCKED or _CLARIFY when its last line that is not
 * blank is one of
 *
 *	RALPH_COMPLETE
 *	RALPH_BLOCKED: reason
 *	RALPH_CLARIFY: question
 *
 * and nothing else; VERDICT_NONE otherwise, wherever else the words stand. *ret_text is the reason or
 * question inside text, with its length.
 */
enum verdict verdict_signal(const char *text, size_t len, const char **ret_text, size_t *ret_len);

/* True when the last line that is not blank is this word, or begins with it and a colon; for judges. */
bool verdict_last_line(const char *text, size_t len, const char *word, const char **ret_text,
		       size_t *ret_len);
