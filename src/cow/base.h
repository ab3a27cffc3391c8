/* SPDX-License-Identifier: MIT */
/*
 * The project's content when the session began, where it is a git repository: a tree in an object store
 * of the session's own, which borrows from the repository's. It is what a three-way merge needs. Only
 * files that differ from the index are read for it, none that is too large to be merged, and nothing in
 * the repository changes.
 *
 *	BASE/ID/base/           a repository of ours: config, objects, index, info/attributes ...
 *	            tree        (its name, in hexadecimal)
 *
 * Files are kept as they are: no filter runs, and nothing else that the repository's configuration, its submodules' or
 * the user's names.
 */
#pragma once

#include "cow/cow.h"
#include "cow/node.h"

/* Takes it; in a child of the supervisor. Without git or a repository there is none: no error. */
int base_write(const struct cow *cow, struct err *err);

/* True when the content that was kept of the path is that of this node: same size, same time. */
bool base_is(const struct cow *cow, const char *path, const struct node *node);

/* Writes what the path held into the descriptor; -ENOENT when that is not known. */
int base_read(const struct cow *cow, const char *path, int out);

/* Merges 'ours' and 'theirs', both made from 'base' (paths), into the descriptor. 1: cleanly; 0: not. */
int base_merge(const struct cow *cow, const char *ours, const char *base, const char *theirs,
	       int out);

/*
 * A git command in the project, with the user's hooks, helpers and the network switched off. extra is a
 * list of further variables or NULL. The wait status or -errno; -ENOENT when there is no git.
 */
int base_git(const struct cow *cow, const char *const *args, char *const *extra, int in, int out);

/* The same for who needs the answer: its exit code, which is 'most' at most; all else is an error that has git's own
 * reason. */
int base_ask(const struct cow *cow, const char *const *args, int in, int out, int most,
	     struct err *err);
