/* SPDX-License-Identifier: MIT */
/* Trying what a spec says under a criterion: a program in a sandbox, or an agent as a judge. */
#pragma once

#include "ralph/criteria.h"
#include "ralph/turn.h"

enum trial_result { TRIAL_PASS, TRIAL_FAIL, TRIAL_SKIP };

/* why: the last lines of a program, or the judge's words. */
int trial_run(struct work *work, const struct feature *feature, const struct criterion *criterion,
	      const struct trial *trial, enum trial_result *ret, struct str *why, struct err *err);
