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
#include "guard/gate.h"

struct apart {
	char *id;               /* of the session */
	bool running;           /* it has it still */
	char *project, *path;   /* the directory, below the project */
	char *place;            /* STATE/wrapix/gatedirs/ID/N */
	struct aliases aliases; /* links that the project had to such directories */
};

/* Those of the project that dir is or lies in. One that has nothing any more that the project has not is forgotten. */
int apart_list(const char *state_home, const char *dir, struct arena *arena, struct apart **ret,
	       size_t *ret_n, struct err *err);
/* What is different in it. 'since': what is newer is fresh. */
void apart_changes(const struct apart *apart, const struct timespec *since,
		   struct later_list *list);
/* Takes it over into the project, or forgets it; 'file': only that, by its name in the directory. NULL: all. */
int apart_accept(const struct apart *apart, const char *file, struct err *err);
int apart_drop(const struct apart *apart, const char *file, struct err *err);

/* Of the changes from the first on, which are this one's: files that a path's own rule leaves to the session come into
 * the project, and are held no more. */
void apart_give(const struct apart *apart, const struct protection *protection,
		struct later_list *list, size_t first);

/* Those that sessions of the project left, which have ended, become the places of this one. */
void apart_carry(const char *state_home, const char *project, const char *id, int meta,
		 struct arena *arena, struct gate_place **ret, size_t *ret_n);
