/* SPDX-License-Identifier: MIT */
/*
 * Which window has the focus, by whoever rules the screen: niri, sway (and i3), Hyprland, X11, macOS. These
 * calls ask and wait, a tenth of a second each; they belong into a child.
 */
#pragma once

#include "notify/place.h"

struct windows {
	char focused[128]; /* "": no window has it */
	bool is_app;       /* it is an application's name, of whose windows one has it */
	pid_t pid;         /* of the focused one, 0: unknown */
	unsigned same;     /* windows of that process */
	const char *ruler;
};

/* False when there is nobody to ask, or no answer. */
bool windows_ask(const struct place *place, struct windows *ret);
/* The answer of one of them, by its name. */
bool windows_read(const char *ruler, const char *answer, size_t len, struct windows *ret);
/* Brings the session's window to the front; false when there is no way. */
bool windows_raise(const struct place *place, const char *window);

/* Is the process the other one, or a child of it, or a child's child? */
bool process_descends(pid_t pid, pid_t ancestor);

/* windows_macos.c */
bool macos_ask(struct windows *ret);
/* "com.apple.Terminal, 2", which is cut up on the way. */
bool macos_read(char *answer, struct windows *ret);

/* windows_x11.c */
bool x11_ask(const struct place *place, struct windows *ret);
bool x11_raise(const struct place *place, const char *window);
/* The parts of x11_ask(): over a connection that nobody has spoken on yet, and the cookie of a display (any, where
 * the file has no number) in a file of them; its length, 0: none. */
bool x11_ask_server(int fd, struct windows *ret);
size_t x11_find_cookie(const char *file, size_t len, const char *number, char ret[64]);
