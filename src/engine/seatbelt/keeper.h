/* SPDX-License-Identifier: MIT */
/*
 * Between the supervisor and a command under Seatbelt stands one small process of ours, because macOS
 * has no namespace that ends with its first process and no signal for the death of a parent:
 *
 *	supervisor  <-- messages -->  keeper  <-- parent of -->  the command, and 'log stream'
 *
 * The keeper leads a session of its own, whose processes it ends with the command, or when the supervisor
 * is gone in whatever way. What has left the session by setsid() is out of its reach, and stays confined:
 * a profile is inherited.
 */
#pragma once

#include "engine/sandbox.h"

struct keeper {
	char *const *argv; /* of sandbox-exec; argv[0] is an absolute path */
	char *const *env;
	const char *cwd;
	char *const *log_argv; /* of 'log stream'; NULL: there is none */
	int log_out;           /* where that writes; -1: there is none */
	int control;           /* to the supervisor */
	int slave;             /* of the command's terminal; -1: none */
	const bool *tty;       /* which of 0, 1 and 2 are that one */
	const int *pass_fds;
	size_t n_pass_fds;
	const char *tmpdir; /* of the command alone: removed with it; NULL: none */
};

/* The process's whole life. Waits for CONTROL_GO before the command starts. */
_Noreturn void keeper_main(const struct keeper *keeper);

/* How the supervisor and the keeper speak; and what the supervisor keeps besides (seatbelt.c). */
extern const struct sandbox_link keeper_link;
extern const struct sandbox_guests seatbelt_guests;
