/* SPDX-License-Identifier: MIT */
/*
 * Settings that change while a command runs: a descriptor that brings whole configurations, one JSON
 * text a line, and the settings file itself. A guest of the loop that brings texts and decides
 * nothing; who gets them keeps the old rules when a text is wrong.
 *
 * The descriptor is the caller's, and so are its lines; the file is not writable by the sandbox.
 */
#pragma once

#include <sys/stat.h>

#include "base/str.h"
#include "os/loop.h"

enum { CONFIG_LINE_MAX = 1 << 20 };

struct config_watch_hooks {
	void (*on_line)(void *ctx, const char *line, size_t len); /* not blank; len > max: cut */
	void (*on_file)(void *ctx);                               /* it may have changed */
	void (*on_lost)(void *ctx, int code); /* the descriptor cannot be read any more; -errno */
	void *ctx;
};

struct config_watch {
	struct loop *loop; /* NULL: not started */
	struct loop_source control, timer;
	struct str line;
	bool too_long;
	char *path; /* of the file; what it was when it was last told of, and at the last look */
	struct stat told, seen;
	struct config_watch_hooks hooks;
};

#define CONFIG_WATCH_NONE                        \
	{                                        \
		.control.fd = -1, .timer.fd = -1 \
	}

/* control_fd -1: none; it stays the caller's. path NULL: no file. */
int config_watch_start(struct config_watch *watch, struct loop *loop, int control_fd,
		       const char *path, const struct config_watch_hooks *hooks, struct err *err);
void config_watch_stop(struct config_watch *watch); /* safe for one that was not started */
