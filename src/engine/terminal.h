/* SPDX-License-Identifier: MIT */
/* Guest of the loop: carries bytes between the user's terminal and the sandbox's. */
#pragma once

#include "engine/leftover.h"
#include "os/loop.h"
#include "os/tty.h"

/* Bytes on their way in one direction. */
struct flow {
	char bytes[16384];
	size_t at, len;
};

/* Sees a copy of the bytes; NULL: nobody does. */
typedef void terminal_tap_fn(void *ctx, bool from_user, const char *bytes, size_t len);

struct terminal {
	struct loop *loop;
	terminal_tap_fn *tap; /* with tap_ctx; set before the start */
	void *tap_ctx;
	struct tty tty;
	struct loop_source user, master;
	uint32_t user_events, master_events; /* what the loop watches them for */
	int peer; /* a slave of our own: a command that closes its last one has not ended */
	struct flow in, out; /* from the user, to the user */
	struct leftover leftover;
	bool std_input;  /* standard input is the terminal */
	bool has_input;  /* keys go inside */
	bool foreground; /* the keys are ours: not after 'bg' */
	bool user_gone;
};

/* std_tty tells which of 0, 1, 2 are the terminal. Takes over master_fd. */
int terminal_start(struct terminal *terminal, struct loop *loop, int master_fd,
		   const bool std_tty[3], struct err *err);
void terminal_resize(struct terminal *terminal);
void terminal_suspend(struct terminal *terminal); /* the user's shell gets its terminal back */
/* After SIGCONT: raw again when the shell put us into the foreground. */
void terminal_resume(struct terminal *terminal);
/* Writes out what the sandbox wrote last, then restores everything: what its program has left switched on in the
 * terminal as well. */
void terminal_stop(struct terminal *terminal);
