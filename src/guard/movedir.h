/* SPDX-License-Identifier: MIT */
/*
 * Guest of the notification dispatcher: renames directories in a copy-on-write workspace.
 *
 * overlayfs cannot rename a directory of the lower layer and says EXDEV; mv(1) copies then, but git mv,
 * Node, Go and Python give up. Here the directory is made anew, its entries are renamed into it one by
 * one, and the old one is removed, in a child of the supervisor, while the caller waits. It is not
 * atomic, and a process that stands in the old directory stays in one that is gone.
 *
 * Nothing is judged here, so nothing can be gained by changing the paths under us: both directories are
 * opened without links and must be on one overlayfs, where the caller may do all of this itself; every
 * other call goes on to the kernel.
 */
#pragma once

#include "guard/notify.h"

enum { MOVES_MAX = 8 }; /* at a time; more get EXDEV */

struct mover;

struct move_job {
	struct mover *mover;
	struct loop_source source; /* the child's pidfd; fd -1: free */
	pid_t pid;
	uint64_t id; /* of the call that waits */
};

struct mover {
	struct loop *loop; /* NULL: not started */
	struct notify *notify;
	struct move_job jobs[MOVES_MAX];
};

void mover_start(struct mover *mover, struct loop *loop, struct notify *notify);
void mover_stop(struct mover *mover);
int mover_call(void *ctx, const struct seccomp_notif *call);
