/* SPDX-License-Identifier: MIT */
/* One value out of a git configuration file: enough for user.name and core.worktree. Pure. */
#pragma once

#include "base/arena.h"

/* The last value of section.key (no subsection), unquoted; NULL where there is none. Included
 * files are not followed. */
char *gitconfig_get(struct arena *arena, const char *text, const char *section, const char *key);

/* The same of section "sub"; names with quotes or backslashes in them are not found. */
char *gitconfig_get_in(struct arena *arena, const char *text, const char *section, const char *sub,
		       const char *key);

/* The value as it must stand between double quotes in such a file. */
char *gitconfig_quote(struct arena *arena, const char *value);
