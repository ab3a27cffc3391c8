/* SPDX-License-Identifier: MIT */
/* How turn.c and turn_start.c share the beginning of a session. */
#pragma once

#include "ralph/turn.h"

/* The agent's arguments: no terminal, the phase's model, a budget, the hook that tells it again what
 * holds when its memory was compacted. */
char **turn_headless_args(struct turn *turn);
/* The directory that stands at /run/ralph, with what belongs in it. */
int turn_make_run_dir(struct turn *turn, struct err *err);
/* What the coder must not change stands read-only. */
void turn_add_protected(struct turn *turn, struct process_spec *spec);
