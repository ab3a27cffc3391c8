/* SPDX-License-Identifier: MIT */
/* The commands of ralph. */
#include "cli/ralph/ralph.h"

const struct program this_program = {
	.name = "ralph",
	.label = "ralph",
	.about = "From an idea to finished work: an interview becomes a spec, the spec becomes "
		 "tasks, and each task is done by a fresh agent in a sandbox of its own, until all "
		 "is done.",
	.examples = EXAMPLES("ralph start dark-mode", "begin a feature",
			     "ralph plan && ralph ready", "the interview, then the tasks",
			     "ralph loop --max-cost 20",
			     "work on them until done, for at most $20"),
};

const char *const command_sections[SECTION_COUNT] = {
	[SECTION_MAKE] = "a feature, in this order",
	[SECTION_WATCH] = "looking at it",
	[SECTION_SETTLE] = "deciding",
	[SECTION_SELF] = "ralph itself",
};

/* clang-format off */
const struct command *const commands[] = {
	&command_start,
	&command_ralph_plan,
	&command_ready,
	&command_step,
	&command_loop,
	&command_status,
	&command_logs,
	&command_ralph_report,
	&command_msg,
	&command_spec,
	&command_ralph_check,
	&command_item,
	&command_use,
	&command_tune,
	&command_export,
	&command_todo,
	&command_ralph_run,
	&command_completion,
	&command_help,
	&command_version,
	NULL,
};
/* clang-format on */

/* What a shell offers where a feature is meant. */
int cli_print_sessions(void)
{
	struct feature *list = NULL;
	struct work work = { 0 };
	struct err ignored; /* nothing to offer */
	size_t n = 0;

	if (work_open(&work, NULL, &ignored) == 0 &&
	    feature_list(&work.db, &work.arena, &list, &n, &ignored) == 0)
		for (size_t i = 0; i < n; i++)
			puts(list[i].name);
	work_close(&work);
	return 0;
}
