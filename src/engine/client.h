/* SPDX-License-Identifier: MIT */
/* The program that makes a sandbox for us (podman, container): started in a session of its own, and watched. What is to
 * become of it when we are killed: it is killed too, or finishes what it is about (what it made ends by itself). */
#pragma once

#include <stdbool.h>

#include "engine/sandbox.h"

enum client_fate {
	CLIENT_DIES,
	CLIENT_FINISHES,
};

/* Starts argv, with a terminal of its own where it is to have one; fills in 'pid', 'pidfd' and 'pty_master'. */
int client_start(struct sandbox *sandbox, char *const argv[], bool has_tty, enum client_fate fate,
		 struct err *err);
/* Ends it, if it still runs: whether it did. */
bool client_end(struct sandbox *sandbox);
