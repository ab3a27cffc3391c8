/* SPDX-License-Identifier: MIT */
/*
 * Reads JSON front to back without allocating: for lines that a sandbox writes, in a daemon that
 * must stay small, and for the client, which is static and has no library. base/json.h builds
 * objects with json-c and serves everybody else.
 *
 *	scan_init(&s, text, len);
 *	for (bool more = scan_open(&s, '{'); more; more = scan_next(&s, '}'))
 *		if (scan_key(&s, key, sizeof(key)) && !strcmp(key, "title"))
 *			scan_text(&s, title, sizeof(title));
 *		else
 *			scan_skip(&s);
 *	return scan_end(&s) ? 0 : -EINVAL;
 *
 * The first mistake makes the scan bad for good: every later call does nothing and says no.
 */
#pragma once

#include "base/util.h"

struct scan {
	const char *at, *end;
	bool bad;
};

void scan_init(struct scan *scan, const char *text, size_t len);

/* Into an object or an array; true when it has a first member. */
bool scan_open(struct scan *scan, char bracket);
/* After a member: true when there is another; false after the closing bracket was taken. */
bool scan_next(struct scan *scan, char closing);
/* The member's key and its colon; false when the scan is bad. A key that does not fit is cut. */
bool scan_key(struct scan *scan, char *ret, size_t size);

/* '"', '{', '[', '0' for a number, 't', 'f', 'n'; 0 where no value begins. */
char scan_kind(struct scan *scan);
/* A string, decoded. What does not fit is cut at a character and ends in an ellipsis; invalid UTF-8,
 * half a surrogate pair and NUL become U+FFFD. False, and "", when the value is something else,
 * which is skipped. */
bool scan_text(struct scan *scan, char *ret, size_t size);
/* A whole number; what stands after its point is left out. False, and 0, when it is something else. */
bool scan_number(struct scan *scan, int64_t *ret);
/* Any value, checked and forgotten. */
void scan_skip(struct scan *scan);
/* True when all was well and nothing but white space is left. */
bool scan_end(struct scan *scan);
