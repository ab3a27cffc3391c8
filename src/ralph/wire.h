/* SPDX-License-Identifier: MIT */
/*
 * Between 'ralph item' in a sandbox and ralph outside: one question, one answer, over a socket.
 *
 *	question   "ralph 1\0" ARG "\0" ARG "\0" ... "\0" TEXT, and then the end of what the client sends
 *	answer     STATUS "\n" TEXT, and then the end; STATUS is the client's exit status
 *
 * TEXT of the question is what stood on standard input, where an argument is '-'.
 */
#pragma once

#define RALPH_RUN_INSIDE "/run/ralph"
#define RALPH_DOOR_INSIDE RALPH_RUN_INSIDE "/door"
#define RALPH_SPEC_INSIDE "/run/ralph-spec"
#define WIRE_MAGIC "ralph 1"

enum { WIRE_MAX = 256 * 1024, WIRE_ARGS_MAX = 32 };
