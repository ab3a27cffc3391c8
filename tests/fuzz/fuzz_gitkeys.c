/* SPDX-License-Identifier: MIT */
/* Git configurations as a sandbox writes them; the input is the old text, a NUL, and the new. */
#include <string.h>

#include "spec/gitkeys.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	const char *end = size ? memchr(text, '\0', size) : NULL;
	size_t old_len = end ? (size_t)(end - text) : 0;
	const char *new = end ? end + 1 : text;
	size_t new_len = end ? size - old_len - 1 : size;
	struct arena arena = { 0 };
	struct gitkeys keys, all;

	/* What may be may be again: no file is refused for itself. */
	if (!gitkeys_check(&arena, text, old_len, new, new_len, "/p/.git/modules/m"))
		check(!gitkeys_check(&arena, new, new_len, new, new_len, NULL));
	if (gitkeys_parse(&arena, new, new_len, &keys) == 0)
		for (size_t i = 0; i < keys.n; i++)
			check(strchr(keys.keys[i].name, '.') && keys.keys[i].value);
	/* Of all of it at least as much is found as where nothing may be odd. */
	gitkeys_parse(&arena, text, size, &keys);
	gitkeys_gather(&arena, text, size, &all);
	check(all.n >= keys.n);
	arena_release(&arena);
	return 0;
}
