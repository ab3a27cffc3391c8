/* SPDX-License-Identifier: MIT */
/*
 * What a session was refused, as the changes of settings that would allow it: each once, with how
 * often it was needed and by which commands. Files of one directory become the directory where they
 * are many and nothing speaks against it. Pure.
 *
 * The sandbox chose what it asked for, and so what is proposed: whoever shows this shows the commands
 * too, and what carries a risk apart.
 */
#pragma once

#include "session/denial.h"

enum { LESSONS_MAX = 1000, LESSON_COMMANDS = 3, LESSON_SIBLINGS = 3 };

struct lesson {
	struct fix fix;
	struct denial denial; /* the first of them; for what nothing allows */
	unsigned long count;
	struct strv commands; /* who needed it, as a shell takes them; cut, not all of many */
	struct strv likely;   /* the same of those of whom that is not certain */
	bool dropped;         /* another one covers it */
	bool settled;         /* the settings have it since; who looks at them says so */
};

struct lessons {
	struct arena arena;
	struct fix_place place; /* from the log's header */
	char *id, *name, *dir, *command;
	struct lesson *v;
	size_t n;
	unsigned long refused; /* all of them */
	unsigned long others;  /* that found no place */
};

/* home: of who asks; the string must outlive it. */
void lessons_init(struct lessons *lessons, const char *home);
/* A line of the log; a header says what the settings are. */
void lessons_add(struct lessons *lessons, struct json_object *event);
/* When all are there: the least that covers them. */
void lessons_merge(struct lessons *lessons);
void lessons_release(struct lessons *lessons);
