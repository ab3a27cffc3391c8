/* SPDX-License-Identifier: MIT */
/* The logs of sessions: what an agent printed, as it came, in STATE/logs/N.jsonl. */
#pragma once

#include "ralph/work.h"

/* Reads one through its dialect, a line an action. tail: only the last 64 KiB. */
int log_read(const struct work *work, const char *name, bool tail, stream_fn *show, void *ctx,
	     struct err *err);

/* Removes the oldest but 'keepLogs' of them, with what else is kept of those steps. */
void logs_rotate(const struct work *work);
