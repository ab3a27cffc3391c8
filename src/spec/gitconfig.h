/* SPDX-License-Identifier: MIT */
/* One value out of a git configuration file: enough for user.name and core.worktree. Pure. */
#pragma once

#include "base/arena.h"

/* The last value of section.key (no subsection; in small letters), unquoted, "true" where the key stands alone; NULL where
 * there is none. Included files are not followed. */
char *gitconfig_get(struct arena *arena, const char *text, const char *section, const char *key);

/* The same of section "sub". */
char *gitconfig_get_in(struct arena *arena, const char *text, const char *section, const char *sub,
		       const char *key);

/* The value as it must stand between double quotes in such a file. */
char *gitconfig_quote(struct arena *arena, const char *value);
