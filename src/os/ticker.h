/* SPDX-License-Identifier: MIT */
/* A guest of the loop that calls back once a second while it is told to: for limits in seconds. */
#pragma once

#include "os/loop.h"

struct ticker {
	struct loop *loop; /* NULL: not started */
	struct loop_source source;
	void (*on_tick)(struct ticker *ticker);
	bool runs;
};

/* Seconds of a clock that never goes back. */
int64_t os_seconds(void);

/* Begins at rest. */
int ticker_start(struct ticker *ticker, struct loop *loop, void (*on_tick)(struct ticker *ticker),
		 struct err *err);
/* The next tick comes in a second from now: who starts it anew in less time puts it off for ever. */
void ticker_run(struct ticker *ticker, bool on);
/* The same, without putting off the next tick of one that runs: for who comes to others that wait. */
void ticker_keep(struct ticker *ticker, bool on);
/* Safe for one that was never started. */
void ticker_stop(struct ticker *ticker);
