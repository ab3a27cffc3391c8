/* SPDX-License-Identifier: MIT */
/*
 * The patterns of file rules, with sandbox-runtime's meaning, the same for reads and for writes:
 *
 *	*      any text without '/'            ?      one character but '/'
 *	**     any text                        **\/   nothing, or any text that ends in '/'
 *	[abc0-9]  one of these; no negation, no escapes
 *
 * A set that is empty, open, holds '/' or a range that runs backwards is plain text ("[user-id]"). A
 * pattern covers what it matches and all that lies below, so '**' as its last component adds nothing.
 * Matching walks a set of states: its time is bounded by pattern times path, whatever they hold.
 */
#pragma once

#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"

#define GLOB_MAX 4096 /* bytes of a pattern */

enum glob_flags {
	GLOB_PLAIN = 1, /* no character is special */
	GLOB_FOLD = 2,  /* compare as a file system does that ignores case: also the characters that
			 * only fold to ASCII, and those that such a file system leaves out */
};

struct glob;

/* True when something in text is special. */
bool glob_is_special(const char *text);

/* text is absolute and clean; it may end in '/'. NULL with the reason when it is too long. */
struct glob *glob_compile(struct arena *arena, const char *text, int flags, struct err *err);

/* Its text when nothing in it turned out to be special: that, and what lies below, is what it covers. Else NULL. */
const char *glob_literal(const struct glob *glob);

/* Where the longest part of path ends that the glob matches and that is path itself or a directory
 * above it: the number of bytes; -1 when the glob does not cover path. */
ssize_t glob_cover(const struct glob *glob, const char *path);

/* True when the names below 'from' that the glob matches, are matched below 'to' as well, and the
 * other way round. What it matches of 'from' and 'to' themselves and above is not looked at. */
bool glob_same_below(const struct glob *glob, const char *from, const char *to);

/*
 * Adds the pattern as an extended regular expression, without anchors: for engines that take those. With
 * 'tail' only what stands after its last "**": a superset of what the pattern can still match below a
 * place where it has matched already; false when there is no "**", so that nothing can.
 */
struct str;
bool glob_add_regex(struct str *out, const struct glob *glob, bool tail);
/* Text as an expression that matches it alone. */
void regex_add_literal(struct str *out, const char *text);

/* The last directory of text before anything special: "/a/b" for "/a/b/c*". */
char *glob_prefix(struct arena *arena, const char *text);
