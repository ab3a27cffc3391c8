/* SPDX-License-Identifier: MIT */
/*
 * srt as a program of its own: 'wrapix' under the name srt does the same, but has twenty commands more
 * to load, and a dynamic loader. A command's start is half done by then.
 */
#include "cli/cli.h"

const struct program this_program = { .name = "srt", .run = cmd_srt };
const char *const command_sections[SECTION_COUNT];
const struct command *const commands[] = { NULL };
