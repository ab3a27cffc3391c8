/* SPDX-License-Identifier: MIT */
/*
 * What a sandbox writes to its terminal, and what comes back: in one piece or byte by byte it leaves the same switched on,
 * what undoes it undoes all of it, and is nothing but sequences.
 */
#include <string.h>

#include "engine/leftover.h"
#include "fuzz.h"

static size_t left_by(const char *bytes, size_t size, size_t step, char *text)
{
	struct leftover l = { 0 };
	char again[LEFTOVER_MAX];
	size_t len;

	for (size_t at = 0; at < size; at += step)
		leftover_output(&l, bytes + at, size - at < step ? size - at : step, 10);
	for (size_t at = 0; at < size; at += step)
		leftover_input(&l, bytes + at, size - at < step ? size - at : step);
	check(l.asked < 100 && l.out.length <= sizeof(l.out.first));
	len = leftover_undo(&l, 24, text);
	check(len < LEFTOVER_MAX - 64 && strlen(text) == len &&
	      (!len || text[0] == '\033' || text[0] == '\017'));
	leftover_output(&l, text, len, 10);
	check(leftover_undo(&l, 24, again) == 0 && !leftover_talks(&l));
	return len;
}

/* The terminal that the program has left, and then the undoing, is one that is as it was. */
static void compare(const char *bytes, size_t size, const char *text, size_t len)
{
	struct leftover l = { 0 };
	char again[LEFTOVER_MAX];

	leftover_output(&l, bytes, size, 10);
	leftover_output(&l, text, len, 10);
	check(leftover_undo(&l, 24, again) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char whole[LEFTOVER_MAX], pieces[LEFTOVER_MAX];
	size_t len = left_by((const char *)data, size, size ? size : 1, whole);

	check(left_by((const char *)data, size, 1, pieces) == len && !memcmp(whole, pieces, len));
	compare((const char *)data, size, whole, len);
	return 0;
}
