/* SPDX-License-Identifier: MIT */
/*
 * Guest of the loop: limits that a control group holds. The kernel counts whom it refused or ended, and wakes us:
 * that is told at once, and exact; who it was is looked for (suspects.h).
 *
 * Memory: the kernel tells first that it is scarce, then that somebody is about to be ended. At the first the largest
 * processes are held; who of them ends by SIGKILL after the second is it.
 */
#pragma once

#include "engine/suspects.h"
#include "os/linux/cgroup_watch.h"
#include "os/loop.h"

struct tally {
	struct sandbox *sandbox;
	struct loop *loop;
	struct cgroup_watch watch;
	struct loop_source wakes, scarce, timer;
	struct cgroup_counts told;
	struct suspects suspects;
	uint64_t ended;      /* how many, of whom it is not told yet who they were */
	unsigned looks;      /* how often yet somebody's end is waited for */
	int64_t next_look;   /* not before, in milliseconds: looking takes its time */
	struct owner *maker; /* of processes, */
	int64_t maker_at;    /* and when he was found */
};

#define TALLY_NONE                                                                          \
	{                                                                                   \
		.watch = CGROUP_WATCH_NONE, .wakes.fd = -1, .scarce.fd = -1, .timer.fd = -1 \
	}

/* The command runs. Nothing is done where no group holds limits; a failure is a comfort that is lost. */
void tally_start(struct tally *tally, struct loop *loop, struct sandbox *sandbox);
/* The command has ended, with this wait status; whatever it ran into is told. */
void tally_end(struct tally *tally, int status);
void tally_stop(struct tally *tally);
