/* SPDX-License-Identifier: MIT */
/*
 * System calls on a descriptor that a hostile process has as well. It decides whether they wait: O_NONBLOCK is the file's
 * and not the descriptor's, so that another thread of its takes it away again, and the last close of a socket lasts for as
 * long as SO_LINGER says, also that of one which lies in the queue of another. So a signal comes to us every millisecond
 * meanwhile: a call that waits ends with EINTR, and a close is done all the same.
 */
#pragma once

#include <signal.h>

#include "base/util.h"

struct brief {
	struct sigaction action;
	sigset_t mask;
};

/* What it needs, while nobody hostile can have used it up: 0 or -errno. */
int brief_prepare(void);

void brief_begin(struct brief *ret);
void brief_end(const struct brief *brief);

/* As close_ptr(). */
void brief_close_ptr(int *fd);
#define _cleanup_brief_close_ _cleanup_(brief_close_ptr)
