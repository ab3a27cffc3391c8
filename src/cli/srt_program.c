/* SPDX-License-Identifier: MIT */
/*
 * srt as a program of its own: 'wrapix' under the name srt does the same, but has twenty commands more
 * to load, and a dynamic loader. A command's start is half done by then.
 */
#include <string.h>

#include "base/path.h"
#include "cli/cli.h"

/* In a sandbox whose system is an image it is 'wrapix', too, as far as that can be used there. */
static int run(int argc, char **argv)
{
	struct err err = { 0 };

	if (argc < 1 || strcmp(path_name(argv[0]), "wrapix") != 0)
		return cmd_srt(argc, argv);
	if (argc > 1 && !strcmp(argv[1], command_exec.name))
		return command_exec.run(argc - 1, argv + 1);
	err_usage(&err, "inside of this sandbox there is 'wrapix exec' alone");
	err_hint(&err, "'wrapix exec --help' says how; all else is outside");
	return cli_fail(&err);
}

const struct program this_program = { .name = "srt", .run = run };
const char *const command_sections[SECTION_COUNT];
const struct command *const commands[] = { &command_exec, NULL };
