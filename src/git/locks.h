/* SPDX-License-Identifier: MIT */
/*
 * What a git that changes references locks while it does, and leaves locked when it is killed. See locks.c.
 *
 * Who starts such a git has a turn (run.h), which that git inherits, and a directory for the note. Of the store only the
 * directory and the repository's places count.
 */
#pragma once

#include "git/git.h"

/* Of a file. */
#define GIT_LOCKED "'%s' is there, of another git that works or that was killed"

/* What a git is about to change of the host's or the session's references, as 'update-ref --stdin' takes it, or "symref HEAD
 * TARGET", or "reflog NAME OID"; it is done. */
int git_locks_note(const struct git_store *store, bool inside, const char *changes);
void git_locks_forget(const struct git_store *store, bool inside);
bool git_locks_noted(const struct git_store *store);
/* With the turn: unlocks what a git that was killed left. -EAGAIN when that cannot be told from somebody else's. */
int git_locks_mend(const struct git_store *store, struct err *err);
/* A lock that stands in the way of a change, or NULL. */
char *git_locks_find(const struct git_store *store, const char *change, struct arena *arena);
