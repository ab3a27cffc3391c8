/* SPDX-License-Identifier: MIT */
/*
 * Live specs: the criteria of a spec's section '## Success Criteria', and under each how it is tried:
 *
 *	- [ ] The server answers
 *	  [verify](../tests/server.sh#answers)
 *
 * Code fences are passed over, headings are compared whole.
 */
#pragma once

#include "base/arena.h"

enum trial_kind {
	TRIAL_VERIFY,  /* a program: 0 passes, 77 and 78 skip */
	TRIAL_SANDBOX, /* [verify:wrapix]: one that is always run in a sandbox */
	TRIAL_JUDGE,   /* an agent decides */
};

struct trial {
	enum trial_kind kind;
	char *path;     /* as written: seen from the spec's directory */
	char *function; /* what follows '#' or '::'; NULL: nothing */
	unsigned line;
};

struct criterion {
	char *text;
	struct trial *trials;
	size_t n_trials;
};

struct criteria {
	struct arena arena;
	char *title; /* of the first '# ' heading; NULL: none */
	struct criterion *v;
	size_t n;
};

void criteria_parse(struct criteria *ret, const char *text, size_t len);
void criteria_release(struct criteria *criteria);
