/* SPDX-License-Identifier: MIT */
/* What answers the system calls of a running sandbox: the one listener, and the guests that share
 * it. Each guest fails closed: without it the kernel, or ENOSYS, refuses what it would have done. */
#pragma once

#include "engine/sandbox.h"
#include "guard/broker.h"
#include "guard/connect.h"
#include "guard/dispatch.h"
#include "guard/gate.h"
#include "guard/limits.h"
#include "guard/movedir.h"
#include "guard/refused.h"

struct guards {
	struct sandbox *sandbox;
	struct dispatch dispatch;
	struct refused refused;
	struct connect_guard connect;
	struct mover mover;
	struct limit_guard limits;
};

#define GUARDS_NONE                                                     \
	{                                                               \
		.dispatch.notify.source.fd = -1, .connect.timer.fd = -1 \
	}

/* While the sandbox is being built, so that what cannot be served is not started. */
int guards_prepare(struct sandbox *sandbox, struct err *err);
/* Before anybody else adds a guest: what the filter refuses is refused first. */
void guards_begin(struct guards *guards, struct sandbox *sandbox);
/* After the network has added its guest. Takes the sandbox's listener over, where it has one. */
int guards_start(struct guards *guards, struct loop *loop, struct sandbox *sandbox,
		 struct err *err);
void guards_stop(struct guards *guards);
