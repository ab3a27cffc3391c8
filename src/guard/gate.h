/* SPDX-License-Identifier: MIT */
/*
 * The gate: places of the host's tree that the sandbox has a private version of, made while it runs.
 *
 * What the host's git would obey must not come into the host's tree, and yet 'git init', 'git clone' and
 * 'git worktree add' are to work inside. So a name that git looks for (.git) is made twice: an empty
 * directory or file in the host's tree, which git ignores, and what the sandbox works in, in a directory
 * of the session's own, mounted over the other in the sandbox's mount namespace. A git directory that
 * was there before is covered at the first attempt to change it, by a private one that is published like
 * the project's own, or by an overlay: no walk finds it sooner.
 *
 * The objects of such a private one are a view of the host's.
 *
 * A directory whose files run later (protect, spec/protect.h) is covered in the same way. What was held of one
 * by an earlier session is the next one's again: it is mounted before the command starts.
 *
 *	STATE/wrapix/gatedirs/ID/N    what the sandbox has there; all of it may be hostile
 *	STATE/wrapix/gate/ID/places   which place that is (JSON), and whether the name was made by us
 *
 * A mount follows its directory when that is renamed and goes when it is removed; both are done by the
 * broker (broker_gate.c), which also decides what is private. A child of the supervisor does the mounting:
 * it enters the sandbox's user and mount namespaces for that, and is in none of the others, so nothing
 * inside sees it. The private directories have no name inside: their mount lies under the workspace's.
 */
#pragma once

#include <sys/stat.h>

#include "base/arena.h"
#include "base/err.h"

struct gate;

enum { GATE_PLACES_MAX = 256 };

enum gate_kind {
	GATE_NEW,  /* made inside; the host has an empty one */
	GATE_REPO, /* the host's git directory, of which a private one was made (git/git.h) */
	GATE_OLD,  /* the host's, changed inside: a view of it */
	GATE_FILE, /* one file: the same as GATE_NEW or, where 'made' is false, as GATE_OLD */
	GATE_HELD, /* files that run later: a view that waits for the user's word */
};

struct gate_place {
	unsigned number; /* its name in the session's directory */
	enum gate_kind kind;
	bool made;        /* the name in the host's tree is ours */
	const char *path; /* on the host; NULL: it is gone */
};

/* The layers of a view, in the directory of its place. */
#define GATE_UPPER "upper"
#define GATE_WORK "work"

/* Makes the private version of a git directory as the place of that number. 0 or -errno. */
typedef int gate_repository_fn(void *ctx, const char *path, unsigned number);

/* 'meta': the directory for the list, borrowed. */
int gate_new(struct gate **ret, int meta, gate_repository_fn *fn, void *ctx, struct err *err);
/* Writes down where everything is at the end. */
void gate_free(struct gate *gate);
/* Takes both over: the sandbox's mount namespace, and the private directories as they are in it. What the
 * project is called inside and outside. */
void gate_enter(struct gate *gate, int mntns, int store, const char *inside, const char *host);

/* These are there already: their views were mounted with the root of the sandbox, which 'view' is. */
void gate_carry(struct gate *gate, const struct gate_place *places, size_t n, int view);

/* Where something is to be private: a name in a directory, outside and inside. */
struct gate_spot {
	int dir, view;
	const char *name; /* no '/' in it */
	const char *path; /* the whole, outside */
};

/* A new directory or file there. 0 or -errno; nothing is left of it then. */
int gate_make(struct gate *gate, const struct gate_spot *spot, enum gate_kind kind, mode_t mode);
/* What is there: GATE_REPO, a private repository where that is possible, else GATE_OLD or GATE_HELD, a view of
 * the directory, or a copy of a file. */
int gate_cover(struct gate *gate, const struct gate_spot *spot, enum gate_kind kind);
/* The sandbox sees something of ours there. */
bool gate_is_ours(const struct gate *gate, const struct stat *st);
/* Of something of ours. */
enum gate_kind gate_kind_of(const struct gate *gate, const struct stat *st);

/* The list of a session. */
int gate_write(int meta, const struct gate_place *places, size_t n, struct err *err);
int gate_read(int meta, struct arena *arena, struct gate_place **ret, size_t *ret_n,
	      struct err *err);
