/* SPDX-License-Identifier: MIT */
/* Which session's log a command means; for learn, report and doctor. */
#pragma once

#include "session/events.h"

/*
 * Each line of the log of a session, by its id or name (the newest of that name); without a word the
 * newest of this directory, else the newest of all. -ENOENT: there is none.
 */
int cli_read_log(const char *word, void (*fn)(void *ctx, struct json_object *event), void *ctx,
		 struct err *err);
