/* SPDX-License-Identifier: MIT */
/*
 * Memory that an rlimit alone holds: the kernel refuses what is too much and tells nobody. So each call that could
 * run into it is looked at before the kernel decides it, and what it is going to refuse is told of.
 *
 * It looks and lets go on, always. What it finds is a prediction; between the look and the kernel's own, memory may
 * be given back.
 */
#pragma once

#include <stdint.h>

#include "guard/notify.h"

struct limit_hit {
	const char *call; /* "mmap" */
	uint64_t limit;   /* that would be passed, in bytes */
	pid_t pid;        /* the thread's, on the host */
};

struct limit_guard {
	const struct notify *notify;
	void (*fn)(void *ctx, const struct limit_hit *hit);
	void *ctx;
};

/* A notify_fn for the calls of seccomp_notify_memory. */
int limits_memory(void *limit_guard, const struct seccomp_notif *call);

/* What lines of /proc/PID/maps have of [from, to): bytes that are private, and writable or not. For tests too. */
uint64_t limits_private(const char *maps, uint64_t from, uint64_t to, bool writable);
