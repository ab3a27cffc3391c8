/* SPDX-License-Identifier: MIT */
/* What became of each change of an apply. */
#include "cow/apply.h"

#include <string.h>

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

/* What was foreseen for that path did not come to be. */
void apply_report_drop(struct apply_report *report, const char *path)
{
	size_t n = 0;

	for (size_t i = 0; i < report->n; i++) {
		const struct result *result = &report->v[i];

		if (strcmp(result->outcome == OUTCOME_BESIDE ? result->text : result->path, path) !=
		    0)
			report->v[n++] = *result;
		else
			report->count[result->outcome]--;
	}
	report->n = n;
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
