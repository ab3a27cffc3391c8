/* SPDX-License-Identifier: MIT */
/* ralph export: the items as lines of JSON. */
#include <string.h>

#include "cli/ralph/ralph.h"
#include "ralph/export.h"

struct export_args {
	bool print;
};

static int cmd_export(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	_cleanup_str_ struct str text = { 0 };
	struct export_args args = { 0 };
	struct feature feature;
	struct work work = { 0 };
	struct err err = { 0 };
	int r = 0, status = cli_parse(argc, argv, &args, &rest);

	if (status == CLI_GO_ON)
		status = ralph_open(&work, NULL, &rest, &feature, false);
	if (status != CLI_GO_ON)
		return status;
	if (args.print) {
		r = export_text(&work.db, &feature, &text, &err);
		if (r == 0)
			fputs(text.s, stdout);
	} else { /* opening has brought the files up to date */
		printf("%s/%s/%s.jsonl\n", feature.hidden ? work.site.state : work.site.top,
		       feature.hidden ? "specs" : EXPORT_DIR, feature.name);
		if (!feature.hidden && work.site.git)
			ralph_next("git add %s (so that the tasks travel with the project)",
				   EXPORT_DIR);
		else
			say_next_of(&work, feature.name);
	}
	work_close(&work);
	return r < 0 ? ralph_fail(&err) : 0;
}

static const struct opt opts[] = {
	{ 0, "print", FLAG(export_args, print),
	  .help = "print the lines instead of where they are" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_export = {
	.name = "export",
	.section = SECTION_SELF,
	.usage = "export [options] [FEATURE]",
	.summary = "the tasks as lines of JSON, for git and other programs",
	.description = "Every command keeps .wrapix/ralph/FEATURE.jsonl up to date, and takes over "
		       "what is newer in it: commit it, and the tasks travel with the repository. "
		       "The database is made from it anew where there is none.",
	.examples = EXAMPLES("ralph export", "where the file is", "ralph export --print",
			     "the lines"),
	.syntax = { opts, FEATURE_OPERAND },
	.run = cmd_export,
};
