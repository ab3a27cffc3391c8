/* SPDX-License-Identifier: MIT */
/* What git prints about a private git directory, and the base. The first byte says which. */
#include <string.h>

#include "git/state.h"
#include "fuzz.h"

static void check_items(const struct git_items *items, bool index)
{
	for (size_t i = 0; i < items->n; i++) {
		check(items->v[i].name && items->v[i].value);
		check(!index || git_path_ok(items->v[i].name));
		check(i == 0 || strcmp(items->v[i - 1].name, items->v[i].name) < 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { 0 };
	struct git_items items = { 0 };
	struct git_state state;
	const char *text, *head;

	if (size == 0)
		return 0;
	{
		char *copy = arena_alloc(&arena, size);

		memcpy(copy, data + 1, size - 1);
		text = copy;
	}
	switch (data[0]) {
	case 'r':
		if (git_parse_refs(&arena, text, size - 1, &items) == 0)
			check_items(&items, false);
		break;
	case 'i':
		if (git_parse_index(&arena, text, size - 1, &items) == 0)
			check_items(&items, true);
		break;
	case 's':
		git_parse_stash(&arena, text, size - 1, &items);
		break;
	case 'I': /* the index as a file */
	case 'J':
		if (git_index_read(&arena, text, size - 1, data[0] == 'J', &items) == 0)
			check_items(&items, true);
		break;
	case 'p':
		if (git_parse_packed(&arena, text, size - 1, &items) == 0)
			check_items(&items, false);
		break;
	case 'o':
		git_parse_op(&arena, text, size - 1);
		if (git_parse_ops(&arena, text, size - 1, &items) == 0)
			check_items(&items, false);
		break;
	case 'l':
		git_parse_reflog(&arena, text, size - 1, &items);
		break;
	case 'h':
		head = git_parse_head(&arena, text, size - 1);
		check(!head || strncmp(head, "ref: ", 5) != 0 || git_ref_ok(head + 5));
		break;
	default:
		if (git_base_parse(&arena, text, size - 1, &state) == 0)
			check_items(&state.index, true);
	}
	arena_release(&arena);
	return 0;
}
