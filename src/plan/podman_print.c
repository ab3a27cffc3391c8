/* SPDX-License-Identifier: MIT */
/* What 'wrapix plan' shows for podman: the limits it holds, and its whole command line. */
#include "base/json.h"
#include "base/str.h"
#include "plan/podman.h"
#include "plan/shown.h"

static void print_limits(struct str *out, const struct plan *plan)
{
	static const char *const names[] = { "memory", "processes", "processors" };

	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++)
		str_addf(out, "limit     %s: %s\n", names[limit],
			 plan->podman.held & LIMIT_BIT(limit) ? "held by podman"
			 : limit == LIMIT_PIDS && !plan_is_machine(plan)
				 ? "each user namespace (RLIMIT_NPROC)"
				 : "none");
}

/* A word a line. */
void podman_print(struct str *out, const struct plan *plan)
{
	struct strv words = { 0 };
	struct arena a = { 0 };

	print_limits(out, plan);
	podman_argv(&a, plan, "STAGE", "SESSION", &words);
	shown_add_words(out, "podman", &words);
	shown_add_lines(out, "differs", &plan->podman.differs);
	arena_release(&a);
}

void podman_print_json(struct str *out, const struct plan *plan)
{
	struct strv words = { 0 };
	struct arena a = { 0 };

	podman_argv(&a, plan, "STAGE", "SESSION", &words);
	str_add(out, ",\n  \"image\": ");
	json_add_string(out, plan->podman.image);
	str_add(out, ",\n  \"podman\": ");
	json_add_strings(out, &words);
	str_add(out, ",\n  \"differs\": ");
	json_add_strings(out, &plan->podman.differs);
	arena_release(&a);
}
