/* SPDX-License-Identifier: MIT */
/* Bytes cut into lines, with the memory they may take capped. */
#include "ralph/lines.h"

#include <string.h>

static void hold(struct lines *lines, const char *bytes, size_t len)
{
	if (lines->dropped || lines->held.len + len > LINES_MAX) {
		lines->dropped += lines->held.len + len;
		lines->held.len = 0;
		return;
	}
	str_addn(&lines->held, bytes, len);
}

static void give(struct lines *lines)
{
	if (lines->dropped)
		lines->on_line(lines->ctx, NULL, lines->dropped);
	else
		lines->on_line(lines->ctx, lines->held.s ? lines->held.s : "", lines->held.len);
	lines->dropped = 0;
	lines->held.len = 0;
	if (lines->held.s)
		lines->held.s[0] = '\0';
}

void lines_feed(struct lines *lines, const char *bytes, size_t len)
{
	while (len) {
		const char *end = memchr(bytes, '\n', len);
		size_t n = end ? (size_t)(end - bytes) : len;

		hold(lines, bytes, n);
		if (end)
			give(lines);
		n += end ? 1 : 0;
		bytes += n;
		len -= n;
	}
}

void lines_end(struct lines *lines)
{
	if (lines->held.len || lines->dropped)
		give(lines);
}

void lines_release(struct lines *lines)
{
	str_release(&lines->held);
}
