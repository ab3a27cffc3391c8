/* SPDX-License-Identifier: MIT */
/* What 'wrapix plan' shows for podman: the limits it holds, and its whole command line. */
#include "base/json.h"
#include "base/str.h"
#include "plan/podman.h"

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
	for (size_t i = 0; i < words.len; i++) {
		_cleanup_str_ struct str word = { 0 };

		str_add_shell(&word, words.v[i]);
		str_add(out, "podman    ");
		str_add_escaped(out, word.s);
		str_add(out, "\n");
	}
	for (size_t i = 0; i < plan->podman.differs.len; i++)
		str_addf(out, "differs   %s\n", plan->podman.differs.v[i]);
	arena_release(&a);
}

void podman_print_json(struct str *out, const struct plan *plan)
{
	struct strv words = { 0 };
	struct arena a = { 0 };

	podman_argv(&a, plan, "STAGE", "SESSION", &words);
	str_add(out, ",\n  \"image\": ");
	json_add_string(out, plan->podman.image);
	str_add(out, ",\n  \"podman\": [");
	for (size_t i = 0; i < words.len; i++) {
		str_add(out, i ? ", " : "");
		json_add_string(out, words.v[i]);
	}
	str_add(out, "],\n  \"differs\": [");
	for (size_t i = 0; i < plan->podman.differs.len; i++) {
		str_add(out, i ? ", " : "");
		json_add_string(out, plan->podman.differs.v[i]);
	}
	str_add(out, "]");
	arena_release(&a);
}
