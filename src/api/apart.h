/* SPDX-License-Identifier: MIT */
/*
 * Directories of a project that a session was kept apart from (protect: hold): it worked on a view of
 * each, and what it changed there waits for the user's word. They are the places of a gate (guard/gate.h):
 *
 *	STATE/wrapix/gatedirs/ID/N/upper    what was written, as overlayfs keeps it; all of it may be hostile
 *
 * The next session of the project takes them over, and finds them as the last one left them.
 */
#pragma once

#include "api/later.h"
#include "base/err.h"
#include "cow/aliases.h"
#include "cow/apply.h"
#include "guard/gate.h"

struct apart {
	char *id;               /* of the session */
	bool running;           /* it has it still */
	char *project, *path;   /* the directory, below the project */
	char *place;            /* STATE/wrapix/gatedirs/ID/N */
	struct aliases aliases; /* links that the project had to such directories */
};

/* STATE/wrapix/gate/ID/bases: what the host had there when it was held (gated_bases.c). */
#define APART_BASES "bases"
void apart_carry_base(const struct apart *apart, int from, int to);

/* Those of the project that dir is or lies in. One that has nothing any more that the project has not is forgotten. */
int apart_list(const char *state_home, const char *dir, struct arena *arena, struct apart **ret,
	       size_t *ret_n, struct err *err);
/* What is different in it. 'since': what is newer is fresh. */
void apart_changes(const struct apart *apart, const struct timespec *since,
		   struct later_list *list);
/*
 * Takes it over into the project, or forgets it; 'file': only that, by its name in the directory. NULL: all. What the
 * user changed since it was held is merged where that goes without a conflict, or is left, on both sides, and reported;
 * unless the resolution says otherwise (not CONFLICTS_BOTH).
 */
int apart_accept(const struct apart *apart, const char *file, enum resolution resolution,
		 struct apply_report *report, struct err *err);
int apart_drop(const struct apart *apart, const char *file, struct err *err);

/* For the files of this: what its session wrote down (STATE/wrapix/gate/ID); its layers, the session's and the
 * project's, which is made where it is gone. A descriptor or -errno. */
int apart_open_meta(const struct apart *apart);
int apart_open_upper(const struct apart *apart);
int apart_make_lower(const struct apart *apart);
bool apart_is_empty(const struct apart *apart);
/* Of a file in them. As of everything else that comes into the project (cow/resolve.c): nothing in '.git', and nothing in
 * a directory that git takes for a repository, called so or not. */
bool apart_is_git(int upper, int lower, const char *file);
/* Nobody else decides about it meanwhile: a descriptor. */
int apart_lock(const struct apart *apart, struct err *err);
int apart_remove_place(const struct apart *apart);

/* Of the changes from the first on, which are this one's: files that a path's own rule leaves to the session come into
 * the project, and are held no more. */
void apart_give(const struct apart *apart, const struct protection *protection,
		struct later_list *list, size_t first);

/* Those that sessions of the project left, which have ended, become the places of this one. */
void apart_carry(const char *state_home, const char *project, const char *id, int meta,
		 struct arena *arena, struct gate_place **ret, size_t *ret_n);
