/* SPDX-License-Identifier: MIT */
/*
 * What becomes of a command under Claude Code's settings, before it runs: the command is taken
 * apart (spec/shell.h) and every part of it is held against the rules.
 *
 * In this order: a deny rule that covers any part denies; an ask rule that covers any part asks;
 * what cannot be taken apart asks; what is all excluded runs outside the sandbox; what asks to
 * run outside asks; what will be in the sandbox in auto-allow mode is allowed; what allow rules
 * cover part by part is allowed; all else asks. Deny and ask rules are also held against what
 * 'sudo', 'env', 'xargs', 'sh -c' and their like would run. An allow rule covers nothing that sets
 * variables or writes files by redirection.
 */
#pragma once

#include "spec/claude.h"
#include "spec/shell.h"

enum claude_answer { CLAUDE_ALLOW, CLAUDE_ASK, CLAUDE_DENY, CLAUDE_EXCLUDED };

struct claude_verdict {
	enum claude_answer answer;
	bool sandboxed;                  /* where it would run */
	bool by_rule;                    /* an allow, ask or deny rule said so */
	bool allowed;                    /* CLAUDE_EXCLUDED: allow rules cover it all */
	const struct claude_value *rule; /* what decided; NULL: no value did */
	const char *part;                /* the simple command that decided; NULL: the whole */
	const char *why;                 /* one sentence, without a full stop */
	struct strv parts;               /* every simple command, as written */
};

struct claude_question {
	const char *command;
	bool outside; /* it asks to run outside the sandbox (dangerouslyDisableSandbox) */
};

/* Strings live in the arena, or in the settings. */
void claude_check(struct arena *arena, const struct claude_settings *settings,
		  const struct claude_question *question, struct claude_verdict *ret);

const char *claude_answer_name(enum claude_answer answer);

/* --- claude_match.c --- */

/* The texts of a part that a deny or ask rule is held against, and what shells inside it would run;
 * *ret_opaque is set where something will run that cannot be known. */
void claude_forms(struct arena *arena, const struct shell_part *part, unsigned depth,
		  struct strv *ret, bool *ret_opaque);
/* The text that an allow rule or an exclusion must cover; NULL when none can. */
const char *claude_allow_form(struct arena *arena, const struct shell_part *part);
