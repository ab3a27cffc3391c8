/* SPDX-License-Identifier: MIT */
/*
 * The subcommands. The dispatcher, the help, the completions and the test that compares the manual
 * with the program read these rows, each of which stands in the subcommand's own file.
 */
#include "cli/cli.h"

#include <string.h>

#include "engine/native/lend.h"

const struct program this_program = {
	.name = "wrapix",
	.about = "Gives an AI coding agent a sandbox of its own: the project, the programs, a "
		 "network, and "
		 "nothing else of this machine.",
	.examples = EXAMPLES("wrapix run", "Claude Code in a sandbox, in this directory",
			     "wrapix run -- make test", "one command instead of the agent"),
	.others = { { "srt", cmd_srt }, { LENT_NAME, cmd_lent } },
	.begin = git_begin,
};

const char *const command_sections[SECTION_COUNT] = {
	[SECTION_SANDBOX] = "sandboxes",
	[SECTION_SESSIONS] = "sessions",
	[SECTION_CLAUDE] = "Claude Code's settings",
	[SECTION_HOST] = "this machine, and wrapix itself",
};

/* By section, one a line. */
/* clang-format off */
const struct command *const commands[] = {
	&command_run,
	&command_exec,
	&command_plan,
	&command_export,
	&command_why,
	&command_ps,
	&command_stop,
	&command_log,
	&command_learn,
	&command_report,
	&command_allow,
	&command_deny,
	&command_diff,
	&command_review,
	&command_apply,
	&command_undo,
	&command_discard,
	&command_git,
	&command_settings,
	&command_mode,
	&command_check,
	&command_doctor,
	&command_selftest,
	&command_profile,
	&command_image,
	&command_trust,
	&command_key, &command_secret,
	&command_completion,
	&command_help,
	&command_version,
	NULL,
};
/* clang-format on */
