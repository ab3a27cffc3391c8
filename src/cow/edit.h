/* SPDX-License-Identifier: MIT */
/* A file of a session changed by the user himself, before it is taken over. */
#pragma once

#include "cow/changes.h"

/* Copies the session's version out for an editor; ret_path is where it is, in the arena. The session
 * must be locked. */
int edit_begin(const struct cow *cow, const struct change *change, struct arena *arena,
	       char **ret_path, struct err *err);
/* Takes what the editor left as the session's version; 'keep' false: forgets it. */
int edit_end(const struct cow *cow, const struct change *change, const char *path, bool keep,
	     struct err *err);
