/* SPDX-License-Identifier: MIT */
/*
 * What a sandbox may change in a git configuration. Keys that only say how git behaves are allowed
 * by name and value; whatever makes git run a program, read another file or go elsewhere is not,
 * and neither is what nobody has thought of yet: it is a list of what is allowed. Pure.
 */
#pragma once

#include "base/arena.h"

#define GITKEYS_MAX ((size_t)1 << 20) /* bytes of a file */

struct gitkey {
	const char *name;  /* "branch.Feature.remote": section and key in lower case */
	const char *value; /* "true" where the file has none */
};

struct gitkeys {
	struct gitkey *keys; /* in the file's order */
	size_t n;
};

/* Reads all of it, as git does, but refuses what is odd. 0 or -EINVAL. */
int gitkeys_parse(struct arena *arena, const char *text, size_t len, struct gitkeys *ret);
/* What can be read of a file of the user's own, which git takes whatever is odd about it: other lines are left out. */
void gitkeys_gather(struct arena *arena, const char *text, size_t len, struct gitkeys *ret);
/* The i-th is the first of its name. */
bool gitkeys_is_first(const struct gitkeys *keys, size_t i);
/* The value among these that git obeys, of one name; NULL where there is none. */
const char *gitkeys_last(struct arena *arena, const char *text, size_t len, const char *name);

/*
 * NULL when the file may become 'new' (either is "" where there is none); else why not, in the
 * arena. gitdir: the absolute path of the git directory, which decides where a submodule's work
 * tree may lie; NULL: nowhere.
 */
const char *gitkeys_check(struct arena *arena, const char *old, size_t old_len, const char *new,
			  size_t new_len, const char *gitdir);
