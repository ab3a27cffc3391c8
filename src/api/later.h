/* SPDX-License-Identifier: MIT */
/*
 * Files of a project that something outside obeys or runs later: an editor, an agent, a hook manager, a
 * shell, a build, CI. What they are is looked at before a session and after it, and what changed is
 * told with its difference and with when it would run. Only names at the top of the project are
 * known, and what lies in such directories: nothing walks the tree.
 */
#pragma once

#include "base/arena.h"

struct later_file;

struct later {
	struct arena arena;
	struct later_file *v; /* by path */
	size_t n;
};

/* What is there now. A project that cannot be opened has nothing. */
void later_look(struct later *later, const char *project);
void later_release(struct later *later);

/* What is different now, a line each and then its difference. */
void later_tell(const struct later *before, const char *project, struct arena *arena,
		struct strv *ret_says);
