/* SPDX-License-Identifier: MIT */
/* All that there is to tell of a feature: its items, its sessions, and what they come to. */
#include "cli/ralph/ralph.h"

int story_load(struct story *story, struct work *work, const struct feature *feature,
	       struct err *err)
{
	int r;

	*story = (struct story){ 0 };
	r = items_load(&work->db, feature->name, &story->items, err);
	if (r == 0)
		r = attempts_load(&work->db, feature->name, NULL, &story->attempts, err);
	if (r < 0) {
		story_release(story);
		return r;
	}
	items_count(&story->items, &story->count);
	for (size_t i = 0; i < story->attempts.n; i++) {
		const struct attempt *a = &story->attempts.v[i];

		story->cost += a->cost;
		story->tokens_in += a->tokens_in;
		story->tokens_out += a->tokens_out;
		story->ms += a->ended ? a->ended - a->started : 0;
	}
	return 0;
}

void story_release(struct story *story)
{
	attempts_release(&story->attempts);
	items_release(&story->items);
}
