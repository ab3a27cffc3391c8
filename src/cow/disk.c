/* SPDX-License-Identifier: MIT */
/* The room that a session's changes may take. */
#include "cow/disk.h"

#include <sys/statvfs.h>

#include "cow/copy.h"

static uint64_t free_bytes(int dir)
{
	struct statvfs st;

	return fstatvfs(dir, &st) == 0 ? (uint64_t)st.f_bfree * st.f_frsize : 0;
}

static void look(struct disk_guard *guard)
{
	guard->used = tree_usage(guard->dir);
	guard->free = free_bytes(guard->dir);
}

static void on_tick(struct ticker *ticker)
{
	struct disk_guard *guard = container_of(ticker, struct disk_guard, ticker);
	uint64_t left = free_bytes(guard->dir);
	uint64_t lost = left < guard->free ? guard->free - left : 0;

	/* Files that are removed give room back, so the number is an upper bound until it is walked. */
	if (guard->told || guard->used + lost <= guard->limit)
		return;
	look(guard);
	if (guard->used <= guard->limit)
		return;
	guard->told = true;
	guard->on_full(guard->ctx, guard->used);
}

int disk_guard_start(struct disk_guard *guard, struct loop *loop, const struct cow *cow,
		     uint64_t limit, void (*on_full)(void *ctx, uint64_t used), void *ctx,
		     struct err *err)
{
	int r;

	*guard = (struct disk_guard){
		.dir = cow->dir,
		.limit = limit,
		.on_full = on_full,
		.ctx = ctx,
	};
	if (!limit)
		return 0;
	r = ticker_start(&guard->ticker, loop, on_tick, err);
	if (r < 0)
		return r;
	look(guard);
	ticker_run(&guard->ticker, true);
	return 0;
}

void disk_guard_stop(struct disk_guard *guard)
{
	ticker_stop(&guard->ticker);
}

uint64_t disk_guard_excess(struct disk_guard *guard)
{
	if (!guard->limit || guard->told)
		return 0;
	look(guard);
	return guard->used > guard->limit ? guard->used : 0;
}
