/* SPDX-License-Identifier: MIT */
/*
 * Other names of what is executed or obeyed later: where '.vscode' is a link to 'config/editor', a change of
 * 'config/editor/tasks.json' is one of '.vscode/tasks.json', whichever name was used for it. Links that lead
 * out of the project, or to a directory that they lie in, have none.
 */
#pragma once

#include <limits.h>

#include "base/arena.h"

struct alias {
	const char *path; /* of the project: what a link leads to */
	size_t len;
	const char *link; /* of the project */
	bool dir;
};

struct aliases {
	struct alias *v;
	size_t n;
	bool partial; /* there may be more: too many, or too much to look through */
};

/* The link, whatever it is called; the project is canonical, and root is it. */
void aliases_add(struct aliases *aliases, struct arena *arena, int root, const char *project,
		 const char *link);
/* The same for one whose name counts. */
void aliases_take(struct aliases *aliases, struct arena *arena, int root, const char *project,
		  const char *link);
/* All of the project's: one walk over its directories. */
void aliases_find(struct aliases *aliases, struct arena *arena, const char *project);

/* The path as it is called by the i-th of them; NULL: that does not lead there. */
const char *aliases_name(const struct aliases *aliases, size_t i, const char *path,
			 char buf[PATH_MAX]);
/* The first such name of which sensitive_class() knows something; the path itself where there is none. */
const char *aliases_obeyed(const struct aliases *aliases, const char *path, char buf[PATH_MAX]);
