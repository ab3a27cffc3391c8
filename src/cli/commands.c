/* SPDX-License-Identifier: MIT */
/*
 * The subcommands. The dispatcher, the help, the completions and the test that compares the manual
 * with the program read these rows, each of which stands in the subcommand's own file.
 */
#include "cli/cli.h"

#include <string.h>

const struct opt main_opts[] = {
	HELP,
	{ 'V', "version", FLAG(main_args, version), .help = "print the version" },
	{ .kind = OPT_END },
};

const char *const command_sections[SECTION_COUNT] = {
	[SECTION_SANDBOX] = "sandboxes",
	[SECTION_SESSIONS] = "sessions",
	[SECTION_HOST] = "this machine, and wrapix itself",
};

/* By section. */
const struct command *const commands[] = {
	&command_run,   &command_plan,       &command_ps,     &command_stop,    &command_log,
	&command_allow, &command_deny,       &command_doctor, &command_profile, &command_trust,
	&command_key,   &command_completion, &command_help,   &command_version, NULL,
};

const struct command *command_find(const char *name)
{
	for (const struct command *const *c = commands; *c; c++)
		if (!strcmp((*c)->name, name))
			return *c;
	return NULL;
}

int command_unknown(const char *name, struct err *err)
{
	const char *names[ARRAY_LEN(commands)], *near;
	size_t n = 0;

	for (const struct command *const *c = commands; *c; c++)
		names[n++] = (*c)->name;
	near = str_nearest(name, names, n);
	if (near)
		return err_usage(err, "unknown command '%s'; did you mean '%s'?", name, near);
	err_usage(err, "unknown command '%s'", name);
	return err_hint(err, "'wrapix help' lists the commands");
}
