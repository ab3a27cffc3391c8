/* SPDX-License-Identifier: MIT */
/*
 * What git obeys because a configuration names it, where that lies in the project: hooks (core.hooksPath, or where
 * '.git/hooks' is a link), what a hook is a link to, files that are included, and programs. It counts whichever configuration says
 * so: the repository's, that of its work tree, the user's, the system's, or one that these include, on whatever condition.
 */
#pragma once

#include "spec/host.h"
#include "spec/spec.h"

struct gitnamed {
	const char *path;         /* of the project: as it is named, or where links lead */
	enum protect_level level; /* PROTECT_HOLD: a directory of hooks; else a file */
};

struct gitnamed_list {
	struct gitnamed *v;
	size_t n;
	/* Directories of them, wherever they lie, absolute; git's own is the first. */
	struct strv hooks;
};

/* The host's project and home are known. */
void gitnamed_find(struct arena *arena, const struct host *host, struct gitnamed_list *ret);
/* A path, and where it leads: by each link on the way, also to what is not there yet. */
void gitnamed_way(struct arena *arena, const char *path, struct strv *ret);
/* The same as gitnamed_find() of a directory, canonical, that was not looked at yet. dirs: those of hooks, and nothing else. */
void gitnamed_find_in(struct arena *arena, const char *dir, bool dirs, struct gitnamed_list *ret);
