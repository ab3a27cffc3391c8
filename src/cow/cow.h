/* SPDX-License-Identifier: MIT */
/*
 * Copy-on-write sessions: a sandbox works on a view of the project, and this room keeps what it
 * changed, shows it, takes it over into the project and back again.
 *
 *	BASE/ID/meta                    what the session is (JSON)
 *	        lock                    flock: held while a sandbox runs in it, and by who changes it
 *	        init                    PID 1 of the sandbox, so that one that was killed is waited for
 *	        project/upper, work     overlayfs: every change to the project; or project/copy
 *	        git/upper, work         the same for a git directory that lies outside the project
 *	        manifest, manifest.more what the project was when the session began (manifest.h)
 *	        foreign                 how much of it belongs to others
 *	        base/                   its content then, as far as git knows it (base.h)
 *	        apply/N/                what was taken over, and how to take it back (journal.h)
 *
 * BASE is STATE/wrapix/cow, or a directory in /var/tmp where that cannot hold an overlay's layer.
 * Everything below the layers was written by the sandbox: it is opened without following links and
 * treated as data.
 */
#pragma once

#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"

struct cow {
	struct arena arena;
	char *base, *id, *name;
	char *project;   /* canonical */
	char *git_top;   /* the top of the repository it is in; NULL: none */
	int64_t started; /* the first time, in nanoseconds since 1970 */
	char *turn;      /* as cow_info.turn; NULL: it cannot be applied */
	bool copy;       /* the layer is a whole copy, not an overlay's upper directory */
	int dir, lock;   /* lock -1: not ours */
	int root;        /* the project; -1 until cow_open_project() */
	int upper;       /* what the sandbox wrote, or the copy */
};
#define COW_NONE                                                \
	{                                                       \
		.dir = -1, .lock = -1, .root = -1, .upper = -1, \
	}

/* What a new session is made of. */
struct cow_about {
	const char *base, *id, *name, *project, *git_top;
	bool copy;
	bool git_layer;      /* the git directory has a layer of its own, at... */
	const char *git_dir; /* ...this place on the host, for a copy */
};

/* Makes the directory and takes the lock. With 'copy' the project is copied now. */
int cow_create(struct cow *cow, const struct cow_about *about, struct err *err);
/* Opens one that is there, without its lock. */
int cow_open(struct cow *cow, const char *base, const char *id, struct err *err);
/* -EBUSY when a sandbox runs in it or somebody works on it. Waits for a sandbox that is dying. */
int cow_lock(struct cow *cow, struct err *err);
/* Opens the project, by no link. */
int cow_open_project(struct cow *cow, struct err *err);
/* True when the sandbox wrote nothing at all. */
bool cow_is_empty(const struct cow *cow);
/* Removes it from the disk; the lock must be ours. */
int cow_remove(struct cow *cow, struct err *err);
void cow_close(struct cow *cow);
#define _cleanup_cow_ _cleanup_(cow_close)

/* One of a list. */
struct cow_info {
	const char *base;
	char *id, *name, *project;
	const char *turn; /* by which who applies it takes turns with sandboxes (session/turn.h) */
	int64_t started;  /* in seconds */
	bool running;
};

/* Those in BASE, oldest first; appended to the list. What a start left that got nowhere is swept. */
int cow_list(struct arena *arena, const char *base, struct cow_info **list, size_t *len,
	     struct err *err);

/* All of this user's, wherever they had to be put; oldest first in each place. */
int cow_list_all(struct arena *arena, const char *state_home, struct cow_info **ret,
		 size_t *ret_len, struct err *err);
/* Opens one of those, to apply it or take that back. */
int cow_open_listed(struct cow *cow, const struct cow_info *info, struct err *err);
/* The one of that id, or the latest of that name; NULL. */
const struct cow_info *cow_find(const struct cow_info *list, size_t n, const char *word);

/* Nobody runs it, and it was started more than 14 days ago. */
bool cow_is_old(const struct cow_info *info);

/* Bytes on the disk. */
uint64_t cow_usage(const char *base, const char *id);
