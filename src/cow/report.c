/* SPDX-License-Identifier: MIT */
/* What became of each change of an apply. */
#include "cow/apply.h"

void apply_report_add(struct apply_report *report, enum outcome outcome, const char *path,
		      const char *text)
{
	struct result *result = arena_grow(&report->arena, &report->v, &report->n, sizeof(*result));

	*result = (struct result){
		.outcome = outcome,
		.path = arena_strdup(&report->arena, path),
		.text = arena_strdup(&report->arena, text),
	};
	report->count[outcome]++;
}

void apply_report_release(struct apply_report *report)
{
	arena_release(&report->arena);
	*report = (struct apply_report){ 0 };
}

bool apply_report_is_partial(const struct apply_report *report)
{
	const size_t *count = report->count;

	return count[OUTCOME_CONFLICT] || count[OUTCOME_HELD] || count[OUTCOME_REFUSED] ||
	       count[OUTCOME_FAILED];
}
