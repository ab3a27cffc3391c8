/* SPDX-License-Identifier: MIT */
/* What settings have to do with a refusal, and with another after they changed. */
#pragma once

#include "plan/plan.h"
#include "session/events.h"
#include "spec/exec.h"
#include "spec/srt.h"

/* Of a host that a rule denies: where that is written, and what it says about it. Strings live in the
 * arena or are the configuration's. */
void explain_host(struct denial *denial, const struct srt_config *config, struct arena *arena);

/* The same by the plan, of 'wrapix run'. */
void explain_host_by_plan(struct denial *denial, const struct plan *plan);

/* Of a limit where it is written, in the file that a change would go into; looked for once each. The strings live
 * in the arena. */
struct limit_places {
	struct arena arena;
	struct {
		bool known;
		const char *origin;
	} of[DENIAL_LIMITS];
};
void explain_limit(struct denial *denial, struct limit_places *places, const struct plan *plan,
		   const char *file);

/* One reading of the settings, as rules. */
struct settings_rules {
	const struct srt_config *config;
	const struct file_rules *files;
};

/* An event that has what no longer counts, and what does since; none where both are the same. */
void explain_change(struct event_log *log, const struct settings_rules *old,
		    const struct settings_rules *now);
