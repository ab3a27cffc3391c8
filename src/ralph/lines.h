/* SPDX-License-Identifier: MIT */
/* Bytes as they come, cut into lines: a line may arrive in any number of pieces, and be of any length. */
#pragma once

#include "base/str.h"

#define LINES_MAX ((size_t)32 << 20)

/* Without its newline, and NUL-terminated. NULL for a line of more than LINES_MAX bytes, whose length it
 * is. */
typedef void lines_fn(void *ctx, const char *line, size_t len);

struct lines {
	lines_fn *on_line;
	void *ctx;
	struct str held; /* the beginning of the next line */
	size_t dropped;  /* bytes of a line that is too long */
};

void lines_feed(struct lines *lines, const char *bytes, size_t len);
/* What came after the last newline is a line, too. */
void lines_end(struct lines *lines);
void lines_release(struct lines *lines);
