/* SPDX-License-Identifier: MIT */
/*
 * What Seatbelt refused, from the system's log: 'log stream' prints each message that ends with the tag
 * of the command's profile.
 *
 *	2026-11-15 10:00:00.000 E  kernel[0:1f] (Sandbox) Sandbox: bash(123) deny(1) file-write-create /p/x
 *	wrapix-...
 */
#pragma once

#include "engine/sandbox.h"
#include "os/loop.h"

struct denial;

/* One line of the log as a refusal. False for every other line, and for those of the system's own
 * services. The strings are in the line, which is changed. */
bool violation_parse(char *line, const char *tag, const struct file_rules *files,
		     struct denial *ret, pid_t *ret_pid);

struct violations {
	struct sandbox *sandbox;
	struct loop *loop;
	struct loop_source source; /* the log's output */
	const char *tag;
	const struct file_rules *files;
	char line[8192];
	size_t len;
	bool skips; /* the rest of a line that is too long */
};

int violations_start(struct violations *violations, struct loop *loop, struct sandbox *sandbox,
		     struct err *err);
/* Reads what is still there. */
void violations_stop(struct violations *violations);
