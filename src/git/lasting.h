/* SPDX-License-Identifier: MIT */
/*
 * A private git directory that lasts from command to command: the one of 'wrapix exec'.
 *
 * A command is over in milliseconds, and the next goes on where it stopped: 'git fetch' and then
 * 'git merge', a rebase that waits for its conflicts to be resolved. So there is one for each
 * repository, under an id that is made of the repository's place and of which directory that is (another that is
 * made there later gets its own), and each command in it works there.
 * It stands where the host's git directory does, under the same name; the host's objects are mounted in
 * it (GIT_HOST), and an alternate.
 *
 * What a command changed is published when it ends, and what the host changed is taken in when the next
 * begins. Both are looked for first: the broker tells of every change inside, and a stamp (times and
 * numbers of the directories that git replaces files in) of those outside. Where neither was, no git
 * runs.
 *
 *	STATE/wrapix/git/xHASH/lock   flock: shared by the commands that run
 *	                      /done   all of it is published; away from a command's first change on
 *	                      /stamp  of the host's, from before it was last taken in
 */
#pragma once

#include "git/git.h"

/* Where the host's objects stand in it; no command writes there. */
#define GIT_HOST "wrapix"

enum { GIT_LASTING_ID = 14 }; /* "x", twelve digits */
void git_lasting_id(const char *gitdir, char ret[GIT_LASTING_ID]);

/* Commands have worked in one. */
bool git_lasting_exists(const struct git_about *about);
/* The next git_lasting_begin() will say that the user is to decide first, as err does; nothing is changed for that. */
bool git_lasting_waits(const struct git_about *about, struct err *err);
/* about->id is git_lasting_id()'s. Opens it or makes it, and takes in what the host changed. */
int git_lasting_begin(struct git_store *store, const struct git_about *about, struct err *err);
/* Of one that was just made: a git that is at work in the host's, all of which is the sandboxes' own, goes on in
 * this one. Objects that it does not get are the host's to read. */
void git_lasting_take_objects(const struct git_store *store);
/* "/HEAD", "/index.lock", "/rebase-merge/done": a work tree's own in its git directory. */
bool git_lasting_is_own(const char *below);
/* The host's is no more where it was; and it is there. Then it has its name, after the command. */
bool git_lasting_is_moved(const struct git_store *store);
int git_lasting_move(struct git_store *store, const char *gitdir, struct err *err);
void git_lasting_settle(struct git_store *store);
/* After a command that was killed, where nobody works in it: what it left locked or half done there. */
void git_lasting_mend(struct git_store *store);
/* Before the first change. */
void git_lasting_change(const struct git_store *store);

/* A file of the host's (in 'from') was changed after ours, or ours is not there. */
bool git_is_newer(int from, const char *name, int to, const char *mine_name);
/* remotes.c: the first branches of remotes, into a private directory, where the host's are newer. */
int git_take_remote_heads(const struct git_store *store, int to, struct err *err);
/* sparse.c: what the user has checked out, where that was changed since. */
int git_take_sparse(struct git_store *store, struct err *err);
/* After a command that changed something: 'ret' has what is held now and was not before. */
int git_lasting_end(struct git_store *store, struct git_report *ret, struct err *err);
