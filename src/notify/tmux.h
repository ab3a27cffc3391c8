/* SPDX-License-Identifier: MIT */
/* What the clients of a session's tmux server show. These calls run tmux and wait; for a child. */
#pragma once

#include "notify/place.h"

struct tmux_client {
	char tty[64];
	pid_t pid;
	bool shows;   /* the session's pane is the active one of the window in front */
	bool knows;   /* its terminal reports the focus, and tmux listens */
	bool focused; /* ... and has it */
};

enum { TMUX_CLIENTS = 32 };

/* How many clients there are; -errno when tmux does not answer. */
int tmux_clients(const struct place *place, struct tmux_client ret[TMUX_CLIENTS]);
/* What tmux said, which is cut up on the way; NULL: nothing. How many clients it tells of. */
int tmux_read_clients(const struct place *place, char *output,
		      struct tmux_client ret[TMUX_CLIENTS]);
/* The pane becomes the active one, in a client that is attached to its session, or in the one that was
 * used last. */
void tmux_raise(const struct place *place);
