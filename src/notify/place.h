/* SPDX-License-Identifier: MIT */
/*
 * Where a session's user is: the terminal it was started on, the tmux pane, the window, the sockets to
 * ask about them, and what the project wants. 'wrapix run' writes it to DIR/wrapix/sessions/ID.json;
 * the daemon reads it when the session registers.
 */
#pragma once

#include <sys/types.h>

#include "base/str.h"

struct place {
	char id[16], name[64], dir[512];
	pid_t pid;     /* the supervisor's, 0: unknown */
	char tty[64];  /* the terminal, "": none */
	char term[64]; /* TERM_PROGRAM, else TERM */

	/* The tmux pane that it was started in; "" outside tmux. */
	char tmux_socket[108], tmux_pane[16];

	/* How to ask which window has the focus, and the window it was started in ("": unknown). */
	char niri[108], sway[108], hyprland[192];
	char display[64], xauthority[256];
	char window[32];
	char app[128]; /* of macOS: the terminal's application */

	char bus[256]; /* the address of the session bus */

	/* What the project wants. */
	bool always; /* also when the user is looking */
	char quiet[128],
		sound[64]; /* times without messages; the sound when a message names none */
	char webhook[512]; /* a command that gets each message as JSON */
};

/* From the environment of who starts a session. Asks tmux nothing: its variables say enough. */
void place_look(struct place *place, char *const *environment);

void place_print(const struct place *place, struct str *out);
int place_parse(const char *text, size_t len, struct place *ret); /* 0 or -EINVAL */
