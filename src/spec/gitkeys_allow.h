/* SPDX-License-Identifier: MIT */
/* The list of git keys that a sandbox may set, as rows; see gitkeys.h. */
#pragma once

#include "spec/gitkeys.h"

/* was_there: the key has another value now. all: the whole new file. */
bool gitkeys_may_set(struct arena *arena, const struct gitkeys *all, const char *name,
		     const char *value, bool was_there, const char *gitdir);
bool gitkeys_may_remove(const char *name);
