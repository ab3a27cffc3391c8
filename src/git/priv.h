/* SPDX-License-Identifier: MIT */
/* What the files of this room share. */
#pragma once

#include "git/git.h"
#include "git/locks.h"
#include "git/run.h"
#include "git/state.h"
#include "plan/plan.h"

/* store.c */
int git_store_name(struct git_store *store, const char *state_home, const char *id,
		   struct err *err);
int git_store_make(struct git_store *store, struct err *err);
/* The same without a private directory. */
int git_store_make_record(struct git_store *store, struct err *err);
int git_store_write_meta(const struct git_store *store, struct err *err);

/* prepare.c: the store as 'about' has it, without anything on the disk; its submodules; and all of the private
 * directories. */
int git_store_describe(struct git_store *store, const struct git_about *about, struct err *err);
void git_add_modules(struct git_store *store, const struct git_about *about);
int git_fill_all(struct git_store *store, struct err *err);
/* Where submodules' are mounted, and the host's objects in them. */
int git_make_places(const struct git_store *store, struct err *err);
/* What a git directory holds beside references, objects and configuration: a worktree's own, and all of theirs. */
extern const char *const git_own_names[], *const git_common_names[];

/* Each makes a file that is not there. */
int git_write_packed_refs(const struct git_state *host, int to, struct err *err);
int git_write_head(const struct git_state *host, int to, struct err *err);
int git_write_alternates(const struct git_store *store, int to, struct err *err);

/* current.c: of one that lasts, what the host was as numbers; "" where that says nothing. And whether it is as it was. */
enum { GIT_STAMP = 32 };
void git_stamp_make(const struct git_store *store, char ret[GIT_STAMP]);
void git_stamp_save(const struct git_store *store, const char *stamp);
bool git_is_current(const struct git_store *store);
/* An index is taken, by a git that works or by one that was killed. */
bool git_is_locked(const struct git_store *store);

/* mend.c: what a command broke, where nobody works in it. And whether git would take it for a repository. */
bool git_is_whole(const struct git_store *store);
int git_mend(struct git_store *store, struct err *err);
/* ... and objects that a git had only begun when it was killed. */
void git_mend_objects(struct git_store *store);

/* identity.c: which directory it is; "" where there is none. */
enum { GIT_IDENTITY = 64 };
void git_identity(const char *dir, char ret[GIT_IDENTITY]);
/* It is that one; NULL and "": nobody asks. */
bool git_has_identity(int dir_fd, const char *name, const char *identity);
/* When a file was made, where that is kept; and what time it is, not later than for a file that is made now. */
struct timespec;
bool git_born(int fd, struct timespec *ret);
void git_clock(struct timespec *ret);
/* store.c: the host's is still the one that it was made of. */
bool git_is_same(const struct git_store *store);
void git_note_identity(struct arena *arena, struct git_store *store);
/* One that lasts, and that says nothing. */
bool git_is_quiet(int dir, const char *id);

/* store.c: parts that another command has added since. */
int git_reload_parts(struct git_store *store, struct err *err);

/* trees.c: work trees of one that lasts, whose parts these are. What all of them share stands here: */
const char *git_shared(const struct git_store *store);
/* A part becomes one. */
void git_become_tree(const struct git_store *main, struct git_store *part);
/* The host has it, and its files are there. */
bool git_tree_is_there(const struct git_store *part);
/* Adds those that the host has, takes away those that it has no more. */
int git_take_trees(struct git_store *main, const struct git_about *about, struct err *err);
/* One that commands made, which the host has now. Nothing else is a part of that name. */
int git_add_tree(struct git_store *main, const char *id, bool fresh, struct err *err);
int git_fill_tree(struct git_store *part, struct err *err);
/* 'commondir' and 'gitdir', as the host's say it. */
int git_write_tree_files(struct git_store *part, int to, struct err *err);
/* It is there, and still the same repository. */
bool git_has_tree(const struct git_store *main, const char *id);
/* In 'locked' of what only says that the host has one. */
#define GIT_TREE_STUB "a work tree of the host's"
/* ... and the host's first one, for who is in another. */
#define GIT_TREE_MAIN "wrapix-main"
/* Where its files are, by the 'gitdir' file in 'dir'; NULL where these do not lead back to worktrees/ID. */
char *git_tree_top(struct arena *a, int dir, const char *common, const char *id);

/* hooks.c: one that git ships and nobody runs. And copies, of the repository's own or of those in another directory. */
bool git_is_sample(const char *name);
int git_copy_hooks(const struct git_store *store, int to, const char *from, struct err *err);
/* The directory of the repository's own, or the other one; -1: there is none, or none that may be shown. */
int git_open_hooks(const struct git_store *store, const char *other);

/* ready.c: one that is there in place of a new one, with its lock. -errno: it must be made. */
int git_ready_take(struct git_store *store);
/* stamps.c: a line for each file of the host's that a private directory is made of; -errno where that cannot be
 * told. And whether they still are as they were (the text is taken apart). */
int git_stamps_take(struct git_store *store, struct str *out);
bool git_stamps_hold(char *text);

char *git_index_mark(struct arena *arena, int dir, bool private, bool *ret_new);

/* Takes git_disarm() back. */
void git_arm(const struct git_store *store);

/* The next one of the session's further repositories. */
struct git_store *git_add_part(struct git_store *main, const char *gitdir, const char *name,
			       const char *where);

/* A reference that goes from one side to the other. */
bool git_ref_travels(const struct git_store *store, const char *name);

static inline void git_step(const struct git_store *store, const char *what)
{
	if (store->on_step)
		store->on_step(what);
}

/* prepare.c: what is a work tree's own, and not HEAD; the marks of both indexes, of which nobody has worked with either. */
int git_copy_own(const struct git_store *store, int to, struct err *err);
int git_copy_file(int from, const char *name, int to, struct err *err);
const char *git_marks_now(struct git_store *store, int private);
/* What the session calls the project's top. */
const char *git_top_inside(struct git_store *store);

/* private_config.c: the text, and the directory of an absolute core.hooksPath or NULL. */
int git_private_config(struct git_store *store, struct str *out, const char **ret_hooks,
		       struct err *err);
/* It depends on the file 'config' alone. */
bool git_config_is_plain(struct git_store *store, const char **ret_hooks);

/* accept.c: the repository of the session that something held belongs to. */
struct git_store *git_part_of(struct git_store *store, const char *where);

/* held.c */
bool git_held_same(const struct git_held *a, const struct git_held *b);
void git_hold(struct git_report *report, const char *kind, const char *name, const char *why);
void git_keep(struct git_report *report, const char *kind, const char *name, const char *why);
int git_held_write(const struct git_store *store, struct git_report *report, struct err *err);
/* Leaves in the report what the user has not been told of. */
void git_held_untold(const struct git_store *store, struct git_report *report);

/* The one at 'at' is not offered again. */
int git_held_forget(struct git_store *store, struct git_held *list, size_t n, size_t at,
		    struct err *err);

/* One round of publishing: the three states, and what is to be done on either side. */
struct git_round {
	struct git_store *store;
	struct arena arena;
	struct git_state base, session, host;
	struct git_report *report;
	bool last;       /* the sandbox is gone */
	bool careful;    /* not the first attempt: one reference at a time */
	off_t lfs_holes; /* of the objects of git-lfs that were looked at */
	/* Lines for 'update-ref --stdin', to the host and to the session; a name in 'rewrites' has its
	 * old and new object in the next two. */
	struct strv refs_out, refs_in, rewrites;
	/* For 'update-index -z --index-info'. */
	struct str index_out, index_in;
	struct strv wants;     /* objects that the host must have before */
	struct strv blobs;     /* the same, for paths of the index */
	struct strv elsewhere; /* branches checked out in other worktrees of the host's */
	struct strv carried;   /* ... in those whose own rounds take them along */
	struct strv created;   /* references that the host gets new */
	/* Where this round has moved a reference, or HEAD: what it was on both sides in that moment. */
	struct git_items moved;
	const char *moved_head;
	size_t n_new;
	bool config_held;
	bool index_own;  /* ... the session has something of its own in it */
	bool index_same; /* it is on both sides as it was, and was not read */
	bool together;   /* both stand on the same, by now */
	bool changed;    /* something was done, so that the states must be read again */
};

/* agree.c: the base at the round's beginning, what is about to be written, and the base at its end; of the session
 * and of the host the states are those of the beginning. */
int git_agree_load(struct git_round *round, struct err *err);
int git_agree_pending(struct git_round *round, const struct git_state *session, struct err *err);
int git_agree_note(struct git_round *round, const struct git_state *session,
		   const struct git_state *host, struct err *err);
int git_read_indexes(struct git_round *round, struct err *err);

/* trees.c: what both sides last agreed on of references is one for all work trees, the repository's. */
int git_tree_load_refs(struct git_round *round, struct err *err);
int git_tree_save_refs(struct git_round *round, struct err *err);
/* refs.c, index.c, stash.c, config.c, import.c: each a part of the round. */
int git_plan_refs(struct git_round *round, struct err *err);
int git_plan_index(struct git_round *round, struct err *err);
int git_import(struct git_round *round, struct err *err);
/* Where the old end of a branch is kept. */
char *git_was_name(struct arena *arena, const struct git_store *store, const struct git_items *refs,
		   const char *name, const char *oid);
int git_tell_rewritten(struct git_round *round, struct err *err);
int git_apply_refs_out(struct git_round *round, struct err *err);
void git_apply_refs_in(struct git_round *round);
/* Lines of 'update-ref --stdin', each a transaction of its own: the status of git. */
int git_write_refs(struct git_round *round, bool inwards, char *const *lines, size_t n);
/* head.c */
int git_apply_head_out(struct git_round *round, struct err *err);
void git_apply_head_in(struct git_round *round);
int git_apply_index_out(struct git_round *round, struct err *err);
bool git_apply_index_in(struct git_round *round); /* false: not this time */
int git_apply_stash(struct git_round *round, struct err *err);
int git_apply_config(struct git_round *round, struct err *err);
/* lfs.c */
int git_apply_lfs(struct git_round *round, struct err *err);
/* A hook that is a file, by its directory (held.c). */
int git_read_hook(int dir, const char *name, char **ret, size_t *len);
int git_config_set(struct git_store *store, const char *name, const struct git_items *values,
		   struct err *err);
struct gitkeys;
/* All values that a key has, in their order. */
void git_values_of(struct arena *arena, const struct gitkeys *keys, const char *name,
		   struct git_items *ret);
bool git_same_values(const struct git_items *a, const struct git_items *b);
/* Adds to the objects that the host must have. */
void git_want(struct git_round *round, const char *oid);
void git_hold_hooks(struct git_round *round);
/* adopt.c */
enum { GIT_PARTS_MAX = 300 };
/* An empty one, where nothing or an empty directory is. */
int git_make_repository(struct git_store *store, const char *gitdir, const char *work_tree,
			bool sha256, struct err *err);
bool git_module_name_ok(const char *name);
/* Where the project's private git directory stands. */
const char *git_place_inside(struct git_store *main);
/* The .git of a work tree, in place of nothing or of another file. */
int git_write_gitfile(struct git_store *main, const char *where, const char *gitdir,
		      struct err *err);
/* Names the host's other work trees to the session; to: its git directory. */
int git_show_worktrees(struct git_store *store, int to, struct err *err);
/* The number of those that were not there. */
size_t git_adopt_worktrees(struct git_store *store, struct git_report *report);
void git_adopt_modules(struct git_store *main, struct git_report *report);

/* exchange.c: a copy of a file of a git directory, for git to work on, as GIT_COPY "NAME"; what it was; and the copy in its
 * place. -EAGAIN when somebody else was quicker. What is left of it goes, also of one who was killed. */
#define GIT_COPY "wrapix-"
struct stat;
int git_exchange_copy(int dir, const char *name, struct stat *ret);
int git_exchange(const struct git_store *store, int dir, const char *name, const struct stat *old);
void git_exchange_repair(int dir, const char *name);

/* holders.c: a process, by its number, is a git that is at work in the host's repository; and all of them. */
bool git_holds(const struct git_store *store, const char *pid);
void git_find_holders(const struct git_store *store, struct arena *arena, struct strv *ret);

/* turn.c: the turn in the host's repository, for a store's gits that change it; nothing of those before is left. */
int git_begin_turn(struct git_store *store, struct err *err);
void git_end_turn(struct git_store *store);

/* kept.c: the host's references whose names begin so; the turn is ours. */
int git_delete_refs(struct git_store *store, const char *prefix, size_t *ret_n, struct err *err);

/* beside.c: all of a round for a copy-on-write session. */
int git_publish_beside(struct git_round *round, struct err *err);

/* index.c: 'git update-index' with these arguments on a copy of one side's, which then takes its place. 0 or -errno. */
int git_update_index(struct git_store *store, struct arena *arena, bool inwards,
		     const char *const *args, const struct str *lines);

/* ops.c */
void git_want_ops(struct git_round *round);
int git_apply_ops(struct git_round *round, struct err *err);
void git_apply_ops_in(struct git_round *round);
/* The session's HEAD is where it was, or where the host's is. */
bool git_stands_still(const struct git_round *round);

/* lists.c: which of them it is, with a sum of it, into a state's operations; NULL: none that goes either way. */
const char *git_list_named(const char *name, size_t len);
void git_lists_read(struct arena *arena, int dir, struct git_items *ret);
/* True while a git directory is in the middle of one. */
bool git_has_list(const char *gitdir);
/* The host's are those that the session began with, and it has none any more. */
bool git_lists_ended(const struct git_round *round);
/* They end on the host, too; and into the session with those that the user began or ended. */
void git_end_lists(struct git_round *round);
void git_take_lists(struct git_round *round);
void git_hold_lists(struct git_round *round);
/* sparse.c */
void git_hold_sparse(struct git_round *round);

/* True while the host's repository is in the middle of something of its own, such as a rebase. */
bool git_host_is_busy(const struct git_round *round);
/* Both stand on one branch and went different ways on it. */
bool git_heads_diverged(const struct git_round *round);
/* A reflog's message of ours. */
char *git_message(struct arena *arena, const struct git_store *store, const char *what);
