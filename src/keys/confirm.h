/* SPDX-License-Identifier: MIT */
/*
 * Asking the user, outside of the sandbox and its terminal. A guest of the loop.
 *
 * The program is ssh-askpass or one like it, which takes the question as its argument and says yes by
 * its exit status; or wrapix-notify, which prints the button that the user chose.
 */
#pragma once

#include <sys/types.h>

#include "os/ticker.h"

#define CONFIRM_SECONDS 60 /* then nobody has answered */

struct confirm {
	struct loop *loop;         /* NULL: not started */
	struct loop_source source; /* the program's end */
	struct ticker ticker;
	pid_t pid; /* 0: nobody is asked */
	int said;  /* what it prints; -1: its exit status says it */
	int64_t deadline;
	void (*on_answer)(void *ctx, bool yes);
	void *ctx;
};

int confirm_start(struct confirm *confirm, struct loop *loop,
		  void (*on_answer)(void *ctx, bool yes), void *ctx, struct err *err);
/* One question at a time. */
int confirm_ask(struct confirm *confirm, const char *program, const char *question,
		struct err *err);
/* The question is taken back, and nobody is told. */
void confirm_cancel(struct confirm *confirm);
/* Safe for a zeroed one. Who is asked is not asked any more, and nobody is told. */
void confirm_stop(struct confirm *confirm);
