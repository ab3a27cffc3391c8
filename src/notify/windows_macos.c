/* SPDX-License-Identifier: MIT */
/*
 * macOS: the application in front, and how many windows it has, by System Events. A terminal is known there
 * by its application alone, so one with several windows may be in front with another of them.
 *
 * Written from documents: it was never run on macOS, only with a stand-in for osascript.
 */
#include <stdlib.h>
#include <string.h>

#include "notify/windows.h"
#include "os/proc.h"

#define ANSWER_MAX 512

bool macos_read(char *answer, struct windows *ret)
{
	char *comma = strrchr(answer, ','), *end;
	unsigned long n;

	if (!comma || comma == answer || (size_t)(comma - answer) >= sizeof(ret->focused))
		return false;
	*comma = '\0';
	n = strtoul(comma + 1, &end, 10);
	if (end == comma + 1 || (*end && *end != '\n') || n > 10000)
		return false;
	memcpy(ret->focused, answer, strlen(answer) + 1);
	ret->same = (unsigned)n;
	return true;
}

bool macos_ask(struct windows *ret)
{
	static const char script[] =
		"tell application \"System Events\" to get {bundle identifier, "
		"count of windows} of first process whose frontmost is true";
	_cleanup_free_ char *answer = NULL;
	struct arena arena = { 0 };
	char *program = os_find_program(&arena, "osascript", getenv("PATH"), NULL);
	char *argv[] = { program, (char *)"-e", (char *)script, NULL };
	bool good = program && os_capture(argv, "/", ANSWER_MAX, &answer) == 0 && answer &&
		    macos_read(answer, ret);

	arena_release(&arena);
	if (good) {
		ret->ruler = "macOS";
		ret->is_app = true;
	}
	return good;
}
