/* SPDX-License-Identifier: MIT */
/* Repositories of their own in the project: its submodules, and others that lie there. */
#pragma once

#include "cow/cow.h"

struct inner {
	struct arena arena;
	const struct cow *cow;
	struct strv links; /* where the index has a submodule, whether or not it is checked out */
};

/* index: what 'git ls-files -s -z' said, from its beginning. */
int inner_load(struct inner *inner, const struct cow *cow, int index);
void inner_release(struct inner *inner);

/* The outermost that the path is or lies in; in the arena. NULL: none. */
const char *inner_of(struct inner *inner, const char *path);
