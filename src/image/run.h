/* SPDX-License-Identifier: MIT */
/* Running the programs that bring an image's files: mmdebstrap, nix, skopeo. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

/* The program of that name, or an error that says how to get it. NULL then. */
char *run_find(struct arena *arena, const char *name, const char *how_to_get, struct err *err);

/* Runs it to its end. What it prints is in *ret_output, if that is asked for; what it says goes to the
 * descriptor 'log', where all it prints goes otherwise. Fails unless it exits with 0. */
int run_program(struct arena *arena, const struct strv *argv, int log, char **ret_output,
		struct err *err);

/* From now on this is called from time to time while a program runs. */
void run_tell(void (*on_wait)(void *ctx), void *ctx);
