/* SPDX-License-Identifier: MIT */
/*
 * What a program has switched on in the user's terminal and not off again, and what it asked the terminal
 * and has not been told. Reads the bytes that went to the terminal and those that came from it; changes nothing
 * itself. Pure: the time comes in. What only changes how text looks (colours, the cursor's shape) is not kept.
 */
#pragma once

#include "base/util.h"

/* Where in an escape sequence a stream is, and what was read of it. */
struct leftover_reader {
	enum {
		LEFTOVER_TEXT,
		LEFTOVER_ESCAPE,
		LEFTOVER_CHARSET, /* after "ESC (" and its like: one byte more */
		LEFTOVER_CSI,
		LEFTOVER_STRING,
	} state;
	char kind;           /* of a string, a set of characters: what followed ESC */
	char prefix, middle; /* of a CSI: '?', '$' and their like; 0: none */
	char first[2], last; /* bytes of a string */
	unsigned int param[16], n_params;
	size_t length; /* of a string, as far as it matters */
};

/* The kitty keyboard protocol has a stack of flags for each of the two screens. */
struct leftover_keys {
	unsigned int pushed, flags;
};

struct leftover {
	struct leftover_reader out, in;
	uint32_t on;
	bool drawing,
		shifted; /* letters are shown as lines: another set is the first one, or the second is in use */
	unsigned int alternate;       /* the mode that switched to the other screen; 0: none did */
	unsigned int top, bottom;     /* of the lines that scroll; 0: all */
	struct leftover_keys keys[2]; /* of the usual screen, of the other one */
	unsigned int asked;           /* questions without an answer */
	int64_t asked_at;
};

#define LEFTOVER_MAX 512

void leftover_output(struct leftover *left, const char *bytes, size_t len, int64_t now_ms);
void leftover_input(struct leftover *left, const char *bytes, size_t len);

/* Writes what switches off all that is on into text, and forgets it; the length, 0 where nothing is on. */
size_t leftover_undo(struct leftover *left, unsigned int rows, char text[static LEFTOVER_MAX]);

/* The terminal sends something by itself: mouse, focus, its size. */
bool leftover_talks(const struct leftover *left);
/* The answer to a question may still come: one that is older will not have any. */
bool leftover_expects(const struct leftover *left, int64_t now_ms);
