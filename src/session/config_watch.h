/* SPDX-License-Identifier: MIT */
/*
 * Settings that change while a command runs: a descriptor that brings whole configurations, one JSON
 * text a line, and the settings files themselves. A guest of the loop that brings texts and decides
 * nothing; who gets them keeps the old rules when a text is wrong.
 *
 * The descriptor is the caller's, and so are its lines; the files are not writable by the sandbox.
 */
#pragma once

#include <sys/stat.h>
#include <time.h>

#include "base/arena.h"
#include "base/str.h"
#include "os/loop.h"

enum { CONFIG_LINE_MAX = 1 << 20 };

struct config_watch_hooks {
	void (*on_line)(void *ctx, const char *line, size_t len); /* not blank; len > max: cut */
	void (*on_file)(void *ctx);                               /* one may have changed */
	void (*on_lost)(void *ctx, int code); /* the descriptor cannot be read any more; -errno */
	void *ctx;
};

struct config_file {
	char *path; /* and what it was when it was last told of, and at the last look */
	struct stat told, seen;
	bool late; /* it may have changed after it was read, and before it was watched */
};

struct config_watch {
	struct loop *loop; /* NULL: not started */
	struct loop_source control, timer;
	struct str line;
	bool too_long;
	struct config_file *files;
	size_t n_files;
	struct config_watch_hooks hooks;
	struct timespec since; /* config_watch_mark() */
};

#define CONFIG_WATCH_NONE                        \
	{                                        \
		.control.fd = -1, .timer.fd = -1 \
	}

/* The files are about to be read: what changes from here on is told of once they are watched. */
void config_watch_mark(struct config_watch *watch);
/* The watch was CONFIG_WATCH_NONE, or marked. control_fd -1: none; it stays the caller's. paths: files, or directories of them, that are there or
 * may come to be; NULL: none. */
int config_watch_start(struct config_watch *watch, struct loop *loop, int control_fd,
		       const struct strv *paths, const struct config_watch_hooks *hooks,
		       struct err *err);
/* What the descriptor brings, in pieces of any length; and its end, which ends a line too. */
void config_watch_bytes(struct config_watch *watch, const char *data, size_t len);
void config_watch_end(struct config_watch *watch);
/* Other settings came after the start: a file that may have been written just before it is not told of for that. */
void config_watch_overrule(struct config_watch *watch);
void config_watch_stop(struct config_watch *watch); /* safe for one that was not started */
