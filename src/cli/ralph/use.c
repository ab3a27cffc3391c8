/* SPDX-License-Identifier: MIT */
/* ralph use: which feature the other commands mean. */
#include <string.h>

#include "cli/ralph/ralph.h"

static int cmd_use(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct feature feature;
	struct work work = { 0 };
	struct items items;
	struct err err = { 0 };
	int r, status = cli_parse(argc, argv, NULL, &rest);

	if (status == CLI_GO_ON)
		status = ralph_open(&work, NULL, &rest, &feature, false);
	if (status != CLI_GO_ON)
		return status;
	r = db_set(&work.db, "current", feature.name, &err);
	if (r == 0)
		r = items_load(&work.db, feature.name, &items, &err);
	if (r == 0) {
		printf("The feature '%s' is in use.\n", feature.name);
		say_next(&feature, &items);
		items_release(&items);
	}
	work_close(&work);
	return r < 0 ? ralph_fail(&err) : 0;
}

static const struct opt opts[] = {
	HELP,
	{ .kind = OPT_END },
};

const struct command command_use = {
	.name = "use",
	.section = SECTION_SELF,
	.usage = "use FEATURE",
	.summary = "choose the feature that the other commands mean",
	.description = "A step or a loop that runs keeps the feature it began with.",
	.examples = EXAMPLES("ralph use dark-mode", "go on with this one"),
	.syntax = { opts, .min = 1, FEATURE_OPERAND },
	.run = cmd_use,
};
