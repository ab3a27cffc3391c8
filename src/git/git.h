/* SPDX-License-Identifier: MIT */
/*
 * Safe git: a sandbox gets a git directory of its own, and the host takes in only data from it.
 *
 *	STATE/wrapix/gitdirs/ID/0  the private git directory that stands inside as .git; everything
 *	                           in it may be hostile. Its objects are the host's, read-only, as an
 *	                           alternate, and those made inside.
 *	                        1, 2 ...  those of submodules
 *	STATE/wrapix/gitready/     those made ahead (ready.c)
 *	STATE/wrapix/turns/        flock, by repository: held by the one who publishes
 *	STATE/wrapix/git/ID/meta   whose it is (JSON)
 *	                    lock   flock: held while a sandbox runs with it
 *	                    base   what both sides last agreed on (state.h)
 *	                    held   what was not published (JSON)
 *	                    incoming/  where new objects are checked
 *	                    1/, 2/ ...  base, held and incoming of a submodule's
 *
 * Publishing compares three states, the session's, the host's and the base, and carries over what
 * only one side changed. What it is about to write it notes ("pending"), so that after a kill that is
 * known for ours; then it is simply done again.
 *
 * Who trusts whom: no git of the host's ever runs in the private directory but confined (run.h), and
 * what it prints there is checked like anything hostile. Objects come in by way of a confined
 * 'git index-pack --strict'; references are named by hand; of the index only modes, names and object
 * names travel; of the configuration the keys of spec/gitkeys.h.
 */
#pragma once

#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "plan/plan.h"

struct git_store {
	struct arena arena;
	char *state; /* STATE/wrapix */
	char *id;
	char *project; /* canonical */
	char *real;    /* the host's git directory (a linked worktree's own) */
	char *common;  /* the repository's */
	char *private; /* the git directory for inside */
	char *program; /* git */
	char *path;    /* of dir */
	int dir, lock;
	int turn; /* of the one who publishes; 0: nobody */
	void (*on_step)(
		const char *what); /* NULL, or called before each step: tests are killed there */
	struct strv lent;     /* further object directories of the host's, until it is closed */
	struct strv borrowed; /* object directories that the host's repositories use as well */
	/* Submodules are repositories of the same session; all but these fields are theirs, too. */
	struct git_store *parts;
	size_t n_parts;
	unsigned number; /* 0: the project's own */
	char *name;      /* of a submodule, below modules/ */
	char *where;     /* where its files are, below the top; NULL: nowhere */
	char *top;       /* the project's work tree, canonical */
	bool fresh;      /* the host has it from this session */
	bool tree;       /* a work tree of the repository: HEAD and index are its own (trees.c) */
	char *shared;    /* ... and the rest is in this private directory */
	bool closed;     /* the command may not write its files: the branch it stands on stays */
	char *view;      /* the directory of the copy-on-write session it belongs to; NULL: none */
	bool lasting;    /* of 'wrapix exec': kept from command to command (lasting.h) */
	bool broken;     /* ... the last of which was killed, and what it left may still be there */
	char *identity;  /* which directory the host's was; NULL: nobody asks */
	bool inner;      /* it lies in the project, where sandboxes may change it */
	char *hooks; /* of one that lasts: what 'hooks' leads to, where that is a link; NULL: it is none */
};
#define GIT_STORE_NONE                 \
	{                              \
		.dir = -1, .lock = -1, \
	}

/* A linked work tree's git directory, which has the repository's beside it; else it is the repository itself. */
static inline bool git_is_linked(const char *real, const char *common)
{
	return strcmp(real, common) != 0;
}

/* A linked work tree of the host's. */
struct git_tree {
	const char *id;  /* below worktrees/ */
	const char *top; /* where its files are */
	bool closed;     /* the command may not write them */
	bool whole;      /* it can be worked in beside others: nothing odd in it, no submodules */
};
/* Those whose files are there and say so. */
void git_list_trees(struct arena *arena, const char *common, struct git_tree **ret, size_t *ret_n);

/* What a new one is made of. */
struct git_about {
	const char *state_home, *id, *project, *top, *real, *common, *program;
	const struct plan_module *modules;
	size_t n_modules;
	const struct strv *borrowed;
	const struct git_tree *trees; /* of git_list_trees(), where it lasts */
	size_t n_trees;
	const char *hooks; /* as store's */
	bool closed;       /* likewise */
	const char *view;  /* NULL, or as above: then it is published beside the host's branches */
	bool lasting;
	bool inner; /* as store's */
};
/* The way to the host's may be in sandboxes' reach: who works above it could move it, and put a link there. So no link is followed
 * on that way, and it must be the one that it was. Of these not even the user's own links in it are followed. */
static inline bool git_is_strict(const struct git_store *store)
{
	return store->lasting || store->inner;
}

/* Makes the private git directory from the host's, and takes the lock. */
int git_prepare(struct git_store *store, const struct git_about *about, struct err *err);
/* Makes one for the next session of the same project, which git_prepare() takes over if nothing of the host's has
 * changed until then (about->view is not used). Nothing is lost where it fails. */
void git_ready_make(const struct git_about *about);
/* Opens one that is there, without its lock. program: NULL where nothing will be published. */
int git_open(struct git_store *store, const char *state_home, const char *id, const char *program,
	     struct err *err);
/* -EBUSY while a sandbox runs with it. */
int git_lock(struct git_store *store, struct err *err);
int git_remove(struct git_store *store, struct err *err);
/* Removes it, and what it published beside the host's branches. */
int git_forget(struct git_store *store, struct err *err);
/* Makes one that ended ready to be worked in again; the lock must be ours. */
int git_resume(struct git_store *store, struct err *err);
void git_close(struct git_store *store);
#define _cleanup_git_ _cleanup_(git_close)

/* Nothing of the sandbox is left to publish. */
int git_set_done(const struct git_store *store, struct err *err);

struct git_info {
	char *id, *project;
	bool running;
	bool beside; /* of a copy-on-write session */
	bool stale;  /* ... which is gone */
	bool done;   /* ended well: what is held is all that is left */
	bool lasting;
	bool locked; /* a git of ours was killed in the host's repository */
	size_t held;
};
/* Those of the project 'wanted', or of each that it lies in ('around'), appended to the list. Nothing is asked of others: somebody
 * may be at work there for long. */
int git_list(struct arena *arena, const char *state_home, const char *wanted, bool around,
	     struct git_info **list, size_t *len, struct err *err);

/* Why something stays in the session. */
struct git_held {
	const char *where; /* the submodule's files, below the top; "": the project itself */
	/* "branch", "tag", "config", "hook", "state", "head", "stash"; "rewritten", "deleted", "moved" */
	const char *kind;
	const char *name;
	const char *why;
	bool anyway; /* to accept it: over what the user changed meanwhile, too */
};
struct git_report {
	struct arena arena;
	const char *where; /* what comes now is this one's */
	struct git_held *held;
	size_t n_held;
	/* What was taken over and left the host's old end under refs/wrapix/ID/was: told, and not held. */
	struct git_held *kept;
	size_t n_kept;
	size_t published;    /* references, paths of the index and keys that the host took over */
	size_t n_stashed;    /* of a copy-on-write session: what it put aside, and... */
	const char *stashed; /* ...the latest of that, a commit */
};
void git_report_release(struct git_report *report);

/* Both sides take over what only the other changed. 'last': the sandbox is gone. -EAGAIN when the host's
 * git is busy: nothing is lost, try again. */
int git_publish(struct git_store *store, bool last, struct git_report *ret, struct err *err);
/* Takes away what a git of ours that was killed left locked in the host's repository. -EAGAIN when somebody else works there. */
int git_unlock(struct git_store *store, struct err *err);

/* A repository that the session made, and that the host does not have, as a session of its own: about->real (and common)
 * is an empty directory, which git_publish() fills; the store is new. */
int git_adopt_apart(struct git_store *store, const struct git_about *about, const char *private,
		    struct err *err);
/* Objects of another repository of the host's that this one may borrow from, until it is closed. */
void git_lend(struct git_store *store, const char *objects);
/* What git would take for a repository; all in it may be hostile. */
bool git_is_repository(int dir);

/* A private directory that is kept must not be one that a git would work in. */
void git_disarm(const struct git_store *store);
/* What the last one held. */
int git_held_read(const struct git_store *store, struct arena *arena, struct git_held **ret,
		  size_t *ret_n, struct err *err);
/* One of a list, as the record and 'wrapix git held --json' have it; 'more' is further members, each after a comma. */
struct str;
void git_held_add_json(struct str *out, const char *id, const struct git_held *held,
		       const char *more, bool first);
/*
 * What accepting it would change: what the host has now, and what the session has. A key's values, the text of a hook, the
 * commit of a branch or tag; an empty list is none. Somebody else wrote it.
 */
struct git_content {
	struct strv was, is;
	const char *file; /* where all of it is, of a hook; else NULL */
	size_t was_size,
		is_size; /* in bytes: the text of a program that is no script ends earlier */
};
int git_held_content(struct git_store *store, const struct git_held *held, struct arena *arena,
		     struct git_content *ret, struct err *err);
/* Does to the host what was held ("config:core.editor"), by the user's word. The next git_publish() no
 * longer finds it. */
int git_accept(struct git_store *store, const struct git_held *held, struct err *err);
/* It is not to be offered again. */
int git_drop(struct git_store *store, const struct git_held *held, struct err *err);
/* Removes what is kept of the host's branches: by a session, or by one that is gone. *ret_n: how many there were. */
int git_drop_kept(struct git_store *store, size_t *ret_n, struct err *err);
int git_drop_kept_of(const struct git_about *about, size_t *ret_n, struct err *err);
