/* SPDX-License-Identifier: MIT */
/*
 * Guest of the loop: the number of processes where an rlimit alone holds it. The kernel tells nobody of one that it
 * refused, and asking the supervisor about each new one could break it (data/seccomp/notify-memory.list). So they are
 * counted now and then, oftener when there are many: a sandbox that is at its limit is told of, once for as long as it
 * stays there, with the process that has the most children then. One that was there for less than a moment may be
 * missed.
 */
#pragma once

#include "engine/sandbox.h"
#include "os/loop.h"

struct headcount {
	struct sandbox *sandbox;
	struct loop *loop;
	struct loop_source timer;
	int proc;  /* the sandbox's /proc; -1: not open yet */
	bool at;   /* it is at the limit, and that was told */
	bool near; /* it may be there soon */
};

#define HEADCOUNT_NONE                     \
	{                                  \
		.timer.fd = -1, .proc = -1 \
	}

/* The command runs. Nothing is done where no rlimit holds processes; a failure is a comfort that is lost. */
void headcount_start(struct headcount *count, struct loop *loop, struct sandbox *sandbox);
void headcount_stop(struct headcount *count);
