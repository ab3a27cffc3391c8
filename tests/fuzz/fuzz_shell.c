/* SPDX-License-Identifier: MIT */
/*
 * A shell command. What is taken apart keeps its caps; a command that is put behind it, or in a
 * substitution around it, is found as well.
 */
#include <string.h>

#include "base/str.h"
#include "spec/shell.h"
#include "fuzz.h"

static bool finds(struct arena *arena, const char *text, const char *command)
{
	struct shell_script script;
	struct err err;

	if (shell_split(arena, text, &script, &err) < 0)
		return true; /* never allowed, so nothing is missed */
	for (size_t i = 0; i < script.n_parts; i++)
		if (script.parts[i].n_words == 1 &&
		    !strcmp(script.parts[i].words[0].plain, command))
			return true;
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	_cleanup_str_ struct str text = { 0 };
	struct shell_script script;
	struct err err = { 0 };

	str_add(&text, "");
	str_addn(&text, (const char *)data, size);
	text.len = strlen(text.s);
	if (shell_split(&arena, text.s, &script, &err) < 0) {
		check(str_starts(err.msg, "column "));
		return 0;
	}
	check(script.n_parts <= SHELL_MAX_PARTS);
	for (size_t i = 0; i < script.n_parts; i++) {
		const struct shell_part *part = &script.parts[i];

		check(part->raw);
		check(part->n_words || part->n_assignments || part->n_redirects);
		check(!part->substituted || script.substitution);
		for (size_t k = 0; k < part->n_words; k++)
			check(part->words[k].raw[0] && part->words[k].plain);
	}
	check(finds(&arena, arena_printf(&arena, "%s\nhidden", text.s), "hidden"));
	check(finds(&arena, arena_printf(&arena, "x $(\n%s\nhidden\n)", text.s), "hidden"));
	check(finds(&arena, arena_printf(&arena, "hidden; %s", text.s), "hidden"));
	return 0;
}
