/* SPDX-License-Identifier: MIT */
/* What the agent of a task is told, and what it is told of the tries before it. */
#include <string.h>

#include "ralph/step.h"
#include "ralph/wire.h"

enum { FAILURE_MAX = 3000 };

/* The last try that got somewhere. */
static const struct attempt *last_try(const struct attempts *attempts)
{
	for (size_t i = attempts->n; i-- > 0;) {
		const struct attempt *a = &attempts->v[i];

		if (a->verdict != VERDICT_NONE && a->verdict != VERDICT_KILLED &&
		    !strcmp(a->phase, "step"))
			return a;
	}
	return NULL;
}

static char *describe_failure(const struct work *work, struct arena *arena, const char *item,
			      const char **ret_previous, struct err *err)
{
	_cleanup_str_ struct str out = { 0 };
	struct attempts attempts = { 0 };
	const struct attempt *last;
	char *text = arena_strdup(arena, "");

	*ret_previous = NULL;
	if (attempts_load((struct db *)&work->db, NULL, item, &attempts, err) < 0)
		return NULL;
	last = last_try(&attempts);
	if (last) {
		str_addf(&out, "## The last try\n\nThis task was tried before and not done (%s)",
			 verdict_name(last->verdict));
		str_addf(&out, last->reason ? ": %.1500s\n" : ".\n%.0s",
			 last->reason ? last->reason : "");
		if (last->errors && *last->errors)
			str_addf(&out, "\nWhat went wrong, in the words of what failed:\n\n%.*s\n",
				 FAILURE_MAX, last->errors);
		if (last->patch) {
			*ret_previous = work_file(work, arena, "%s", last->patch);
			str_add(&out,
				"\nNothing of it is in the project. What it had changed is in "
				"`" RALPH_RUN_INSIDE "/previous.diff`: use what is good of it.\n");
		}
		text = arena_strdup(arena, out.s);
	}
	attempts_release(&attempts);
	return text;
}

static char *describe_notes(struct arena *arena, const struct item *item)
{
	_cleanup_str_ struct str out = { 0 };

	str_add(&out, "");
	if (item->notes)
		str_addf(&out, "## Notes of earlier sessions\n\n%s\n", item->notes);
	if (item->answer)
		str_addf(&out, "## An answer of the user's\n\nThe question was: %s\n\n%s\n",
			 item->reason ? item->reason : "(see the notes)", item->answer);
	return arena_strdup(arena, out.s);
}

static char *describe_protected(const struct work *work, struct arena *arena)
{
	const struct strv *protect = &work->config.protect;
	_cleanup_str_ struct str out = { 0 };

	str_add(&out, "");
	for (size_t i = 0; i < protect->len; i++)
		str_addf(&out, "%s`%s`",
			 i ? ", " : "These are protected; a task that changes them fails: ",
			 protect->v[i]);
	return arena_strdup(arena, out.s);
}

int step_prompt(struct work *work, struct arena *arena, const struct feature *feature,
		const struct item *item, const char **ret_previous, struct str *ret,
		struct err *err)
{
	char *failure = describe_failure(work, arena, item->id, ret_previous, err);
	char *gate =
		work->config.gate
			? arena_printf(
				  arena,
				  "When you are done, this command decides whether it counts, in a "
				  "sandbox like yours: `%s`. If it fails, all of your changes are "
				  "rolled back.",
				  config_gate(&work->config, arena))
			: arena_strdup(arena, "");
	const struct template_var vars[] = {
		{ "FEATURE", feature->name },
		{ "SPEC_PATH", work_spec_inside(arena, feature) },
		{ "PINNED", work_pinned(work, arena) },
		{ "ITEM_ID", item->id },
		{ "TITLE", item->title },
		{ "DESCRIPTION", item->text ? item->text : "(the title says it all)" },
		{ "NOTES", describe_notes(arena, item) },
		{ "PREVIOUS_FAILURE", failure },
		{ "PROTECTED", describe_protected(work, arena) },
		{ "GATE", gate },
	};

	if (!failure)
		return -err->code;
	return template_fill(ret, &work->templates, "step", vars, ARRAY_LEN(vars), err);
}
