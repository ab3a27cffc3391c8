/* SPDX-License-Identifier: MIT */
/*
 * A program that gives a network namespace the host's network from user space, without privileges:
 * pasta, or slirp4netns where there is no pasta or it fails.
 */
#pragma once

#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"

struct uplink {
	pid_t pid;  /* 0: not running */
	int pidfd;  /* readable when it has ended */
	int ready;  /* a pipe, readable when the network is there */
	int output; /* what it prints: a small file in memory, which it may outlive */
	const char *program;
};

/*
 * In the sandbox's network namespace, before one is started: its addresses count at once there. pasta
 * of 2023 takes the source of the last packet for the sandbox's address, and the kernel's question
 * whether somebody has an address comes from "::", where it then sends the answers that are on
 * their way. Nobody else is on that cable.
 */
void uplink_prepare(void);

/*
 * Starts the program for the namespaces of process target, without waiting. The word "PID" in argv
 * stands for the target, and argv makes it write to its standard output (slirp4netns: to descriptor 3)
 * when the network is there. It dies with the caller, but the caller stops it: pasta of 2023 outlives
 * its target.
 */
int uplink_begin(struct uplink *uplink, const struct strv *argv, pid_t target, struct err *err);

/* Once 'ready' or 'pidfd' is readable: 0 when the network is there, else why not. */
int uplink_finish(struct uplink *uplink, struct err *err);

/* Of one that had attached the network: what it said at its end. */
void uplink_explain_end(const struct uplink *uplink, struct err *err);

/* Both of these, waiting between them, with each program in turn until one succeeds. */
int uplink_start(struct uplink *uplink, const struct strv *argvs, size_t n, pid_t target,
		 struct err *err);

/* Safe at any time, also for a zeroed one. */
void uplink_stop(struct uplink *uplink);
