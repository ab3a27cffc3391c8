/* SPDX-License-Identifier: MIT */
/* Paths as text: nothing here looks at a file system. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

/* Joins and cleans: no '//', no '.', '..' taken back lexically and never above '/'. An absolute
 * path wins over base. The result is absolute when one of them is; a relative one keeps the '..'
 * that lead out of it, and is "." when nothing is left. */
char *path_join(struct arena *arena, const char *base, const char *path);
/* Only put behind base, unless it is absolute: for the kernel to find, to whom '..' after a link is elsewhere. */
char *path_at(struct arena *arena, const char *base, const char *path);

/* True when path is dir or lies below it; both are clean and absolute. */
bool path_is_below(const char *path, const char *dir);

/* What path is called seen from dir, "" for dir itself; NULL when it does not lie below. */
const char *path_below(const char *path, const char *dir);

/* How long that is which the first len bytes of path lie in; 0: nothing is above them. */
size_t path_parent_len(const char *path, size_t len);
char *path_parent(struct arena *arena, const char *path);
const char *path_name(const char *path); /* the last component; "/" for the root */

/* A list of directories, as PATH is, with those of more that it has not behind it. */
char *path_list_add(struct arena *arena, const char *list, const char *more);

/* Expands a leading '~' or '~/' and every '$HOME' and '$USER' that stands as a whole name;
 * nothing else: no command substitution, no other variable. */
char *path_expand(struct arena *arena, const char *path, const char *home, const char *user);
