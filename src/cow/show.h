/* SPDX-License-Identifier: MIT */
/* A change as text for people and programs: what 'wrapix diff' and 'wrapix review' show. */
#pragma once

#include "base/str.h"
#include "cow/changes.h"
#include "cow/unified.h"

#define SHOW_MAX ((size_t)16 << 20) /* bytes of a file that are compared line by line */

/* One side of a change: a file's content or where a link leads; empty where there is nothing. -EFBIG
 * when it is longer than that. NUL-terminated and malloc'ed. */
int change_read(const struct cow *cow, const struct change *change, bool new, char **ret,
		size_t *ret_len);

/* The session's file, where it is a regular one: descriptor or -errno. */
int change_open(const struct cow *cow, const struct change *change);

/* A name as git writes it: bare, or in quotes with C's escapes. */
void add_quoted_name(struct str *out, const char *prefix, const char *path);

/* False for what git's format cannot say: directories, modes that git does not keep. */
bool change_is_git(const struct change *change);

/* The change in git's format, which 'git apply' and 'patch -p1' take. The content is added as it is:
 * str_add_visible() is for terminals. */
void change_add_diff(struct str *out, const struct cow *cow, const struct change *change);

/* The lines it adds and removes; false when that cannot be said (no text, too long). */
bool change_count(const struct cow *cow, const struct change *change, struct unified_stat *ret);

void change_add_json(struct str *out, const struct cow *cow, const struct change *change);
