/* SPDX-License-Identifier: MIT */
/*
 * Directories of a project that a session was kept apart from (protect.CLASS = hold): it worked on a view of
 * each, and what it changed there waits for the user's word. They are the places of a gate (guard/gate.h):
 *
 *	STATE/wrapix/gatedirs/ID/N/upper    what was written, as overlayfs keeps it; all of it may be hostile
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"

struct apart {
	char *id;             /* of the session */
	char *project, *path; /* the directory, below the project */
	char *place;          /* STATE/wrapix/gatedirs/ID/N */
};

/* Those of the project that dir is or lies in, whose sessions have ended. */
int apart_list(const char *state_home, const char *dir, struct arena *arena, struct apart **ret,
	       size_t *ret_n, struct err *err);
/* The files in it that differ, each with a sign before it: "+" made or changed, "-" removed. */
void apart_files(const struct apart *apart, struct arena *arena, struct strv *ret);
/* Takes it over into the project, or forgets it. */
int apart_accept(const struct apart *apart, struct err *err);
int apart_drop(const struct apart *apart, struct err *err);
