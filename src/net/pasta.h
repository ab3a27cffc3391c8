/* SPDX-License-Identifier: MIT */
/* pasta gives a network namespace the host's network from user space, without privileges. */
#pragma once

#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"

struct pasta {
	pid_t pid;  /* 0: not running */
	int pidfd;  /* readable when it has ended */
	int ready;  /* a pipe, readable when the network is there */
	int output; /* what it prints: a small file in memory, which it may outlive */
};

/*
 * Starts pasta (argv without its last words) for the namespaces of process target, without waiting.
 * It dies with the caller, but the caller stops it: pasta of 2023 outlives its target.
 */
int pasta_begin(struct pasta *pasta, const struct strv *argv, pid_t target, struct err *err);

/* Once 'ready' or 'pidfd' is readable: 0 when the network is there, else why not. */
int pasta_finish(struct pasta *pasta, struct err *err);

/* Both of these, waiting between them. */
int pasta_start(struct pasta *pasta, const struct strv *argv, pid_t target, struct err *err);

/* Safe at any time, also for a zeroed one. */
void pasta_stop(struct pasta *pasta);
