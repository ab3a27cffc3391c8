/* SPDX-License-Identifier: MIT */
/* Two texts compared line by line, as a unified diff. Pure. */
#pragma once

#include "base/str.h"

struct unified_stat {
	size_t added, removed;
};

/* False for what is no text: a NUL in its first part. */
bool unified_is_text(const char *s, size_t len);

/*
 * Adds the hunks ("@@ -1,3 +1,4 @@" and on) of what makes b from a, with three lines around each change;
 * nothing when they are the same. out may be NULL, for the counts alone. Two texts that have little in
 * common are shown as one removed and one added, rather than compared for ever.
 */
void unified_add(struct str *out, const char *a, size_t a_len, const char *b, size_t b_len,
		 struct unified_stat *ret);
