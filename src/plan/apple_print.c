/* SPDX-License-Identifier: MIT */
/* What 'wrapix plan' shows for Apple's container: the machine, what is staged, the whole command line. */
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "plan/apple.h"
#include "plan/shown.h"

static const char *const way_names[] = {
	[APPLE_NOT] = NULL,
	[APPLE_DIR] = NULL,
	[APPLE_SOCKET] = "socket",
	[APPLE_TREE] = "make",
	[APPLE_FILE] = "file",
	[APPLE_LIVE] = "live",
	[APPLE_READONLY] = "read-only",
};

static const char *notify_text(const struct plan *plan)
{
	if (!plan->notifyd)
		return "none";
	switch (plan->apple.notify) {
	case APPLE_NOTIFY_SOCKET:
		return "by a relayed socket";
	case APPLE_NOTIFY_TCP:
		return "by TCP to the gateway, port 5959, with a token of the session";
	default:
		return "none";
	}
}

static void print_machine(struct str *out, const struct plan *plan)
{
	const struct plan_apple *apple = &plan->apple;

	str_addf(out, "machine   %u processors, %llu MiB\n", apple->cpus,
		 (unsigned long long)(apple->memory >> 20));
	str_addf(out, "image     %s%s\n", apple->image, apple->loader ? " (to be loaded)" : "");
	str_addf(out, "messages  %s\n", notify_text(plan));
}

static void print_staged(struct str *out, const struct plan *plan, struct arena *a)
{
	struct strv env = { 0 };

	for (size_t i = 0; i < plan->n_ops; i++) {
		const struct op *op = &plan->ops[i];
		const char *name = way_names[apple_way(plan, op)];

		if (!name)
			continue;
		str_addf(out, "staged    %s ", name);
		str_add_escaped(out, op->dest);
		if (apple_staged(a, plan, op, "/STAGE")) {
			str_add(out, " as ");
			str_add_escaped(out, apple_staged(a, plan, op, "/STAGE"));
		}
		str_add(out, "\n");
	}
	apple_env(a, plan, &env);
	for (size_t i = 0; i < env.len; i++)
		str_addf(out, "entry     %s\n", env.v[i]);
}

/* The plan was checked: what cannot be said was refused. */
static void words_of(struct arena *a, const struct plan *plan, struct strv *ret)
{
	struct err ignored;

	(void)apple_argv(a, plan, "/STAGE", "SESSION", ret, &ignored);
}

void apple_print(struct str *out, const struct plan *plan)
{
	struct strv words = { 0 };
	struct arena a = { 0 };

	print_machine(out, plan);
	print_staged(out, plan, &a);
	words_of(&a, plan, &words);
	shown_add_words(out, "container", &words);
	shown_add_lines(out, "differs", &plan->apple.differs);
	arena_release(&a);
}

static void json_words(struct str *out, const char *name, const struct strv *words)
{
	str_addf(out, ",\n  \"%s\": ", name);
	json_add_strings(out, words);
}

static void json_staged(struct str *out, const struct plan *plan, struct arena *a)
{
	bool first = true;

	str_add(out, ",\n  \"staged\": [");
	for (size_t i = 0; i < plan->n_ops; i++) {
		const struct op *op = &plan->ops[i];
		const char *name = way_names[apple_way(plan, op)];
		char *staged = apple_staged(a, plan, op, "/STAGE");

		if (!name)
			continue;
		str_addf(out, "%s\n    {\"way\": \"%s\", \"dest\": ", first ? "" : ",", name);
		json_add_string(out, op->dest);
		if (staged) {
			str_add(out, ", \"as\": ");
			json_add_string(out, staged);
		}
		str_add(out, "}");
		first = false;
	}
	str_add(out, "]");
}

void apple_print_json(struct str *out, const struct plan *plan)
{
	struct strv words = { 0 }, env = { 0 };
	struct arena a = { 0 };

	str_add(out, ",\n  \"image\": ");
	json_add_string(out, plan->apple.image);
	str_addf(out, ",\n  \"machine\": {\"cpus\": %u, \"memory\": %llu}", plan->apple.cpus,
		 (unsigned long long)plan->apple.memory);
	str_add(out, ",\n  \"messages\": ");
	json_add_string(out, notify_text(plan));
	json_staged(out, plan, &a);
	apple_env(&a, plan, &env);
	json_words(out, "entry", &env);
	words_of(&a, plan, &words);
	json_words(out, "container", &words);
	json_words(out, "differs", &plan->apple.differs);
	arena_release(&a);
}
