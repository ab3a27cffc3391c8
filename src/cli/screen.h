/* SPDX-License-Identifier: MIT */
/* A full screen in the terminal, with nothing but escape sequences that every terminal knows. */
#pragma once

#include <termios.h>

#include "base/err.h"
#include "base/str.h"

struct screen {
	struct termios saved;
	bool on;
	unsigned rows, cols;
	struct str frame; /* what the next screen_show() writes */
};

enum key {
	KEY_NONE = 0, /* the size changed, or nothing that we know */
	KEY_END_OF_INPUT = -1,
	KEY_UP = 256,
	KEY_DOWN,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_HOME,
	KEY_END,
};

/* -ENOTTY when standard input and output are no terminal. */
int screen_start(struct screen *screen, struct err *err);
void screen_stop(struct screen *screen); /* safe for one that was not started */
/* For a program that takes the terminal meanwhile. */
void screen_pause(struct screen *screen);
void screen_resume(struct screen *screen);

/* Waits for a key: a byte, or an enum key. */
int screen_key(struct screen *screen);

void screen_begin(struct screen *screen);
/* One line at row and col, width columns wide, cut or filled up; attr as in "1;32", NULL: plain. Text
 * is escaped: it may be hostile. */
void screen_put(struct screen *screen, unsigned row, unsigned col, unsigned width, const char *attr,
		const char *text, size_t len);
void screen_show(struct screen *screen);
