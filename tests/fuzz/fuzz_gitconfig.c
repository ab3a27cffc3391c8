/* SPDX-License-Identifier: MIT */
/* A git configuration file of a hostile repository; what is read can be quoted and read again. */
#include <stdlib.h>
#include <string.h>

#include "spec/gitconfig.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { NULL };
	char *text = arena_strndup(&arena, (const char *)data, size);
	char *value = gitconfig_get(&arena, text, "core", "worktree");

	if (value) {
		char *quoted = gitconfig_quote(&arena, value);
		char *again = gitconfig_get(&arena,
					    arena_printf(&arena, "[core]\nworktree=\"%s\"", quoted),
					    "core", "worktree");

		/* Control bytes are left out on purpose; the rest comes back. */
		if (!again || strlen(again) > strlen(value))
			abort();
	}
	arena_release(&arena);
	return 0;
}
