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
/* The first tick comes in a second, however often it is told. */
void ticker_run(struct ticker *ticker, bool on);
/* The same, without putting off the next tick of one that runs: for who comes to others that wait. */
void ticker_join(struct ticker *ticker);
/* Safe for one that was never started. */
void ticker_stop(struct ticker *ticker);
