/* SPDX-License-Identifier: MIT */
/*
 * A git configuration file of a hostile repository. The reader of one value and that of all agree; what is read is the same once it
 * was quoted and read again, but for control characters, which are left out on purpose.
 */
#include <stdlib.h>
#include <string.h>

#include "spec/gitconfig.h"
#include "spec/gitkeys.h"
#include "fuzz.h"

static void check_quoted(struct arena *arena, const char *value)
{
	const char *text = arena_printf(arena, "[core]\nworktree=\"%s\"",
					gitconfig_quote(arena, value));
	const char *again = gitconfig_get(arena, text, "core", "worktree");

	check(again);
	for (; *value; value++)
		if ((unsigned char)*value >= ' ' || *value == '\n')
			check(*again++ == *value);
	check(!*again);
}

/* Of each name the last value. */
static void check_all(struct arena *arena, const char *text, const struct gitkeys *keys)
{
	for (size_t i = 0; i < keys->n && i < 20; i++) {
		const char *last = gitkeys_last(arena, text, strlen(text), keys->keys[i].name);
		const char *want = NULL;

		for (size_t k = 0; k < keys->n; k++)
			if (!strcmp(keys->keys[k].name, keys->keys[i].name))
				want = keys->keys[k].value;
		check(last && !strcmp(last, want));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { NULL };
	char *text = arena_strndup(&arena, (const char *)data, size);
	char *value = gitconfig_get(&arena, text, "core", "worktree");
	struct gitkeys keys;

	if (value)
		check_quoted(&arena, value);
	gitkeys_gather(&arena, text, strlen(text), &keys);
	check_all(&arena, text, &keys);
	arena_release(&arena);
	return 0;
}
