/* SPDX-License-Identifier: MIT */
/*
 * Who it was that ran into a limit. The kernel counts that it refused or ended somebody, and does not say whom: so the
 * processes of the sandbox are looked at. Of one that was ended for want of memory it is known where it was held by
 * a pidfd before its end, and ended by SIGKILL; everything else is likely at best, and said to be (owner.likely).
 */
#pragma once

#include <sys/types.h>

#include "engine/sandbox.h"
#include "net/owner.h"

/* One that is large, and held to see its end. */
struct suspect {
	pid_t pid;
	int pidfd;
	struct owner *owner;
};

enum { SUSPECTS_MAX = 4 };

struct suspects {
	struct suspect held[SUSPECTS_MAX]; /* the largest first */
	size_t n;
};

/* The processes of the sandbox: those of the group, or (-1) those below its first process. */
struct crowd {
	const struct sandbox *sandbox;
	int group;
};

/* The root that they have; -1 where it cannot be had. Nobody may look into the first process, but at who it started. */
int crowd_open_root(const struct sandbox *sandbox);

/* Holds the largest of now; those that were held and are still large or have ended stay. */
void suspects_hold(struct suspects *suspects, const struct crowd *crowd);
/* One that has ended by SIGKILL, as a reference, and no longer held; NULL: none yet. unsure: one that has ended at all. */
struct owner *suspects_take_ended(struct suspects *suspects, bool unsure);
void suspects_release(struct suspects *suspects);

/* Who has the most children in there; NULL: nobody has any. A reference. */
struct owner *suspects_find_parent(const struct crowd *crowd);
/* Who has the longest file of this file system open for writing; NULL: nobody has. A reference. */
struct owner *suspects_find_writer(const struct crowd *crowd, dev_t dev);
