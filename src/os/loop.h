/* SPDX-License-Identifier: MIT */
/*
 * One loop, of epoll or kqueue. Its guests are structs that embed a 'struct loop_source' and get their events
 * through it; a guest that returns a negative errno ends the loop with that error.
 */
#pragma once

#include <stdint.h>

#include "base/err.h"

/* What a source is watched for, and what has happened to it. LOOP_ERR and LOOP_HUP come unasked. */
#define LOOP_IN 0x001U
#define LOOP_OUT 0x004U
#define LOOP_ERR 0x008U
#define LOOP_HUP 0x010U
#define LOOP_RDHUP 0x2000U   /* the other side will send nothing more */
#define LOOP_ONCE (1U << 30) /* until loop_change() */
#define LOOP_EDGE (1U << 31) /* only what is new */

struct loop_source;

struct loop {
	int fd;
	bool done; /* set by a guest: the loop ends after this round */
	struct loop_source *direct;
	bool was_direct; /* the last event, so that nobody is starved */
};

struct loop_source {
	int fd;
	int (*on_event)(struct loop_source *source, uint32_t events, struct err *err);
};

#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

int loop_init(struct loop *loop, struct err *err);
void loop_release(struct loop *loop);
int loop_add(struct loop *loop, struct loop_source *source, uint32_t events, struct err *err);
int loop_change(struct loop *loop, struct loop_source *source, uint32_t events, struct err *err);
/*
 * The one source that is waited for by itself, from its LOOP_IN on: for a descriptor whose kernel
 * side wakes us on its own processor (seccomp notifications do), a wish that epoll does not hand on.
 */
void loop_add_direct(struct loop *loop, struct loop_source *source);
/* Takes the source out; its descriptor stays open. Safe for one that is not in. */
void loop_remove(struct loop *loop, struct loop_source *source);
/* Until a guest sets done or fails. timeout_ms < 0: for ever; returns 1 when nothing happened for so long,
 * or so much did that waiting for a pause is no use: a timer costs something each time. */
int loop_run(struct loop *loop, int timeout_ms, struct err *err);
