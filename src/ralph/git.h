/* SPDX-License-Identifier: MIT */
/* The project's repository, from outside: commits of exactly the paths that a step changed, and pushes. */
#pragma once

#include "ralph/work.h"

/* Runs git in the project with its output, without the last newline, in the arena. The exit status or
 * -errno. No program of the configuration's runs but filters, by which content is what the user's own git would commit;
 * nothing is fetched, and nothing asks on the terminal. */
int git_ask(const struct work *work, struct arena *arena, const char *const *args,
	    const char *index, const char *input, size_t input_len, char **ret);

/* The same without a word; it inherits 'keep'. */
int git_tell(const struct work *work, struct arena *arena, const char *const *args, int keep);

/* Paths as git takes them from its input: with a NUL after each. */
void git_add_paths(struct str *out, char *const *paths, size_t n);

/* In another work tree, by the user's own index. */
int git_ask_in(const struct work *work, struct arena *arena, const char *tree,
	       const char *const *args, const struct str *input, char **ret);

/* Its output goes to a file as it is. */
int git_write(const struct work *work, struct arena *arena, const char *const *args, int out);

/* -errno for what git_ask() and its like have given. */
int git_failed(int status, const char *what, struct err *err);

/* Whose files are which, for many paths one after the other. */
struct git_owner {
	struct arena arena;
	const struct work *work;
	char *submodules;
	char *dir; /* the last one that was asked about, and the answer */
	bool theirs, covered;
};
void git_owner_begin(struct git_owner *owner, const struct work *work);
void git_owner_end(struct git_owner *owner);
/* It lies in another repository: a submodule, or one that git does not know as such. */
bool git_is_theirs(struct git_owner *owner, const char *path);
/* Something that is no directory stands above it: for git it goes with what comes there. */
bool git_is_covered(struct git_owner *owner, const char *path);

/*
 * Those of the n paths that git ignores, where the .gitignore files are those of the first of the n_roots directories
 * that has something of that name (a device is a mark that there is none). *ret_ignored[i] is set for the i-th.
 */
int git_ignored(const struct work *work, char *const *paths, size_t n, const int *roots,
		size_t n_roots, bool *ret_ignored, struct err *err);

/*
 * A commit on top of HEAD with the n paths as they are in the project now, added or removed; what else is
 * staged or changed stays as it is. *ret is its id, in the arena; NULL when there was nothing to commit.
 * 'before' is called with the id before the branch moves.
 */
int git_commit(const struct work *work, struct arena *arena, char *const *paths, size_t n,
	       const char *message, int (*before)(void *ctx, const char *id, struct err *err),
	       void *ctx, char **ret, struct err *err);
/* HEAD, or the branch it stands on, from one commit (NULL: from nothing) to another. -ESTALE: it is elsewhere. */
int git_move_branch(const struct work *work, struct arena *arena, const char *to, const char *from,
		    struct err *err);
/* Takes away what the git of one that was killed left locked. */
int git_unlock_branch(const struct work *work, struct err *err);
/* Brings the index up to date for these paths. */
void git_refresh(const struct work *work, char *const *paths, size_t n);
/* Whether a commit could be made: git knows who the user is. */
int git_check(const struct work *work, struct err *err);
/* True when HEAD has that commit. */
bool git_has(const struct work *work, const char *commit);
int git_push(const struct work *work, struct err *err);
