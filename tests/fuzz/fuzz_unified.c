/* SPDX-License-Identifier: MIT */
/*
 * Two texts of a sandbox, divided by a NUL, as a unified diff: the same give nothing, the counts are those of the marks, and the
 * other way round they are exchanged.
 */
#include <string.h>

#include "cow/unified.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *a = (const char *)data, *nul = size ? memchr(a, 0, size) : NULL;
	const char *b = nul ? nul + 1 : a + size;
	size_t a_len = nul ? (size_t)(nul - a) : size, b_len = nul ? size - a_len - 1 : 0;
	_cleanup_str_ struct str out = { 0 }, none = { 0 };
	struct unified_stat there, back, same;

	unified_add(&out, a, a_len, b, b_len, &there);
	unified_add(NULL, b, b_len, a, a_len, &back);
	unified_add(&none, a, a_len, a, a_len, &same);
	check(!none.len && !same.added && !same.removed);
	check(there.added == back.removed && there.removed == back.added);
	check(!out.len == (a_len == b_len && !memcmp(a, b, a_len)));
	check(!out.len || !strncmp(out.s, "@@ -", 4));
	(void)unified_is_text(a, a_len);
	return 0;
}
