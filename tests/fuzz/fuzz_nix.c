/* SPDX-License-Identifier: MIT */
/* The graph that nix-store prints: each name is in the order once, whatever the edges say. */
#include <string.h>

#include "base/arena.h"
#include "image/nix.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const all[] = { "aaaa-bash-5.2", "bbbb-glibc-2.38", "cccc-hello",
					   "dddd" };
	_cleanup_(arena_release) struct arena arena = { NULL };
	struct strv names = { 0 }, ordered = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		strv_add(&arena, &names, all[i]);
	nix_rank(&arena, &names, arena_strndup(&arena, (const char *)data, size), &ordered);
	if (ordered.len != names.len)
		abort();
	for (size_t i = 0; i < names.len; i++)
		for (size_t j = 0; j < i; j++)
			if (!strcmp(ordered.v[i], ordered.v[j]))
				abort();
	return 0;
}
