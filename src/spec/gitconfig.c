/* SPDX-License-Identifier: MIT */
/* One value out of a git configuration file. */
#include "spec/gitconfig.h"

#include <string.h>

#include "base/str.h"
#include "spec/gitkeys.h"

char *gitconfig_get(struct arena *arena, const char *text, const char *section, const char *key)
{
	return gitconfig_get_in(arena, text, section, NULL, key);
}

char *gitconfig_get_in(struct arena *arena, const char *text, const char *section, const char *sub,
		       const char *key)
{
	const char *name = arena_printf(arena, "%s%s%s.%s", section, sub ? "." : "", sub ? sub : "",
					key);

	return (char *)gitkeys_last(arena, text, strlen(text), name);
}

char *gitconfig_quote(struct arena *arena, const char *value)
{
	_cleanup_str_ struct str out = { 0 };

	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			str_add(&out, "\\");
		if (*value == '\n')
			str_add(&out, "\\n");
		else if ((unsigned char)*value >= ' ')
			str_addn(&out, value, 1);
	}
	return arena_strdup(arena, out.s ? out.s : "");
}
