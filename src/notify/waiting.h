/* SPDX-License-Identifier: MIT */
/*
 * What the bytes of a terminal say about its program and its user: a bell, a message (OSC 9, OSC 777), the
 * terminal's focus (reported where the program inside has asked for it), and how long it has been silent.
 * Looks at a copy and changes nothing. Pure: the time comes in.
 */
#pragma once

#include "base/util.h"

struct waiting_hooks {
	void (*on_bell)(void *ctx);
	void (*on_text)(void *ctx, const char *title, const char *text); /* title may be "" */
	void (*on_focus)(void *ctx, bool here);
	void *ctx;
};

/* Where in an escape sequence a stream is. */
struct waiting_parser {
	enum { GROUND, ESCAPE, CSI, OSC, OSC_ESCAPE, STRING, STRING_ESCAPE } state;
	char seq[1024];
	size_t len;
};

struct waiting {
	struct waiting_hooks hooks;
	struct waiting_parser out, in;
	bool focus_events; /* the program wants to hear of the focus */
	int64_t output_at; /* seconds; 0: none since the user's last key */
};

void waiting_output(struct waiting *waiting, const char *bytes, size_t len, int64_t now);
void waiting_input(struct waiting *waiting, const char *bytes, size_t len);

/* Seconds of silence after output that nobody has answered; 0 while there is none. */
int64_t waiting_silence(const struct waiting *waiting, int64_t now);
/* It has been told: nothing more until there is new output. */
void waiting_told(struct waiting *waiting);
