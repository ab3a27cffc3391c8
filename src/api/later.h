/* SPDX-License-Identifier: MIT */
/*
 * Files of a project that something outside obeys or runs later: an editor, an agent, a hook manager, a
 * shell, a build, CI (cow/paths.h). What they were is known from before a session, what they are is looked
 * at after it, and what changed is told with its difference and with when it would count.
 *
 * Nothing walks the tree. Where the supervisor makes the changes itself (--git private) it notes each such
 * file before its first change, at any depth. Where it does not, the names at the top of the project are
 * looked at before, and what lies in such directories.
 */
#pragma once

#include "base/arena.h"
#include "spec/spec.h"

struct later_file;

struct later {
	struct arena arena;
	enum protect_level levels[PROTECT_CLASSES];
	bool noted;           /* by later_note(), not by a look at the top */
	struct later_file *v; /* by path, of a look */
	size_t n;
};

/* What becomes of a change to that file of the project. */
enum protect_level later_level(const enum protect_level *levels, const char *path);

/* Where nobody is asked about changes: what is ro and at the top becomes read-only. */
void later_close(struct spec *spec, const char *project);

/* What is at the top now. A project that cannot be opened has nothing. */
void later_look(struct later *later, const char *project);
/* Before a change: what the path of the project is, by its directory and name; the first time counts. */
void later_note(struct later *later, int dir, const char *name, const char *path);
void later_release(struct later *later);

/* What is different now, a line each and then its difference. */
void later_tell(struct later *before, const char *project, struct arena *arena,
		struct strv *ret_says);
