/* SPDX-License-Identifier: MIT */
/*
 * A socket that takes connections in, as a guest of the loop. Without a descriptor or memory for the next one the loop
 * would be told of it for ever, and do nothing else: it rests then, and tries again in a second.
 */
#pragma once

#include "os/ticker.h"

struct listener {
	struct loop_source source;
	struct ticker ticker; /* runs while it rests */
	/* The descriptor does not block, is closed by exec, and is the function's. */
	void (*on_connection)(struct listener *listener, int fd);
};

/* The listening descriptor; -1: none yet. */
#define LISTENER(descriptor, function)                                         \
	{                                                                      \
		.source = { .fd = (descriptor) }, .on_connection = (function), \
	}

int listener_start(struct listener *listener, struct loop *loop, struct err *err);
/* The descriptor stays open. Safe for one that was never started. */
void listener_stop(struct listener *listener);
