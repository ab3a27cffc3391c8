/* SPDX-License-Identifier: MIT */
/*
 * Guest of the loop: ends a sandbox whose changes take more room than they may. No file system that
 * an ordinary user has can limit a directory, so it is looked at once a second; the walk over the
 * changes is made only when the file system has lost that much room since the last one.
 */
#pragma once

#include "cow/cow.h"
#include "os/ticker.h"

struct disk_guard {
	struct ticker ticker;
	int dir; /* of the session's layers */
	uint64_t limit;
	uint64_t used, free; /* at the last walk, and what the file system had left then */
	void (*on_full)(void *ctx, uint64_t used);
	void *ctx;
	bool told;
};

/* Nothing to do with limit 0. on_full is called once. */
int disk_guard_start(struct disk_guard *guard, struct loop *loop, const struct cow *cow,
		     uint64_t limit, void (*on_full)(void *ctx, uint64_t used), void *ctx,
		     struct err *err);
void disk_guard_stop(struct disk_guard *guard);
/* After the session, which may have been shorter than a look takes: what the changes take where that is too
 * much and on_full was not called; else 0. */
uint64_t disk_guard_excess(struct disk_guard *guard);
