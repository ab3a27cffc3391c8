/* SPDX-License-Identifier: MIT */
/*
 * Guest of the loop: the room that a sandbox has for files of its own (limits.disk). The kernel refuses what is too much
 * and tells nobody, so the file systems are asked now and then, and when the command has ended: one without room is
 * told of, once until there is some again, with who has the longest file open for writing there.
 */
#pragma once

#include "engine/sandbox.h"
#include "os/loop.h"

struct room_place {
	const char *path; /* inside; the plan's */
	int fd;
	dev_t dev;
	bool full; /* and that was told */
};

enum { ROOM_PLACES = 16 };

struct room {
	struct sandbox *sandbox;
	struct loop *loop;
	struct loop_source timer;
	struct room_place places[ROOM_PLACES]; /* one of each file system */
	size_t n;
};

#define ROOM_NONE              \
	{                      \
		.timer.fd = -1 \
	}

/* The command runs. A failure is a comfort that is lost. */
void room_start(struct room *room, struct loop *loop, struct sandbox *sandbox);
/* It has ended; what it left full is told. */
void room_end(struct room *room);
void room_stop(struct room *room);
