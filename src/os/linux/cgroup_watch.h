/* SPDX-License-Identifier: MIT */
/*
 * What the kernel counts in a control group, while it lives: processes that it ended for want of memory, and ones
 * that it did not let be made. It wakes who asks (inotify; of memory in version 1 an eventfd, and of processes there
 * nothing does), also when memory has become scarce and nobody was ended yet.
 */
#pragma once

#include "os/linux/cgroup.h"

struct cgroup_watch {
	int group[2]; /* that count; -1: none */
	int members;  /* the one whose cgroup.procs has everybody; -1: nothing is counted here */
	int wakes;    /* readable when there may be something new; -1: nobody wakes us */
	int scarce;   /* the same of memory, version 1; -1: 'wakes' tells */
	bool silent;  /* version 1: nobody is woken for processes */
};

#define CGROUP_WATCH_NONE                                                     \
	{                                                                     \
		.group = { -1, -1 }, .members = -1, .wakes = -1, .scarce = -1 \
	}

/* Our own group. One that systemd made is looked for by its first process. */
void cgroup_watch_own(struct cgroup_watch *ret, const struct cgroup *cg, pid_t first);
/* That of a process which somebody else put there (version 2). */
void cgroup_watch_of(struct cgroup_watch *ret, pid_t first);
/* Reads the wakes away. */
void cgroup_watch_take(const struct cgroup_watch *watch);
void cgroup_watch_stop(struct cgroup_watch *watch);

struct cgroup_counts {
	uint64_t of[LIMIT_COUNT]; /* LIMIT_MEMORY: ended; LIMIT_PIDS: refused */
};
void cgroup_watch_counts(const struct cgroup_watch *watch, struct cgroup_counts *ret);
