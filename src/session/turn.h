/* SPDX-License-Identifier: MIT */
/*
 * Taking turns by a lock on a file that no sandbox can reach. Who has it does a few system calls and does not wait for
 * anybody, and the kernel takes it from who is killed. From one that does not come to its end (it was stopped, the disk
 * hangs) it is not waited for for ever.
 */
#pragma once

#include "base/arena.h"

/* The file by which all that changes the user's files takes turns: brokers of sandboxes, apply and undo. STATE is
 * wrapix's own directory in the state home. */
char *turn_path(struct arena *arena, const char *state);

/*
 * Opens it, and makes it. 1, or 0 where there is none for anybody: nothing can be made in that directory. What a
 * sandbox may bring about (a full disk, too many open files) is no reason to go on without: -errno.
 */
int turn_open(const char *path, int *ret_fd);

/* Takes it, looking again after so many microseconds. -EAGAIN: after 20 s somebody still had it. */
int turn_await(int fd, unsigned step_us);
