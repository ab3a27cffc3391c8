/* SPDX-License-Identifier: MIT */
/*
 * The manifest: what every path of the project was when the session began, so that what the user
 * changes meanwhile can be told from what the session changed. Written in the background while the
 * command already runs; what changed between the start and the look is marked as late, and counts as
 * changed. Nothing in '.git' is in it.
 *
 *	wrapix-manifest 1 STARTED\0
 *	MODE SIZE MTIME INO LATE PATH\0		numbers in hexadecimal; LATE is 0 or 1
 *	...
 *	end\0
 *
 * 'manifest' is the first look; 'manifest.more' has what was taken over since then, in the same form,
 * and wins.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "cow/node.h"

struct cow;

struct manifest_entry {
	const char *path;
	struct node node; /* mode 0: it was not there */
	bool late;
};

struct manifest {
	bool complete; /* false: there is none, or it was cut short; what it says holds */
	char *text[2];
	struct manifest_entry *v;
	size_t n;
	size_t *slots; /* of the hash table: index + 1 */
	size_t n_slots;
};

/* Looks at the whole project. In a child of the supervisor. */
int manifest_write(const struct cow *cow, struct err *err);
/* How many files and directories of the project belong to others, and the first; NULL: none. */
char *manifest_foreign(const struct cow *cow, struct arena *arena, size_t *ret_n);

/* An absent file is an empty manifest that is not complete. */
int manifest_load(struct manifest *manifest, const struct cow *cow, struct err *err);
void manifest_release(struct manifest *manifest);
/* NULL when it says nothing of that path. */
const struct manifest_entry *manifest_find(const struct manifest *manifest, const char *path);

/* Puts what these paths are from now on into 'manifest.more'. */
int manifest_refresh(const struct cow *cow, const struct manifest_entry *entries, size_t n,
		     struct err *err);

/*
 * 'settled': versions of the session's that were merged or put beside the user's, so that they are no
 * changes any more though the project holds something else.
 */
int manifest_load_settled(struct manifest *manifest, const struct cow *cow, struct err *err);
/* Adds n entries; entries of an empty node take one back. */
int manifest_settle(const struct cow *cow, const struct manifest_entry *entries, size_t n,
		    struct err *err);

/* For tests: one file's text, which is changed and must live as long. */
int manifest_parse(struct manifest *manifest, char *text, size_t len, struct err *err);
