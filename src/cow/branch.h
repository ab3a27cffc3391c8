/* SPDX-License-Identifier: MIT */
/* A session's changes as a new branch of the project's repository, without touching its files. */
#pragma once

#include "cow/changes.h"

struct branch_report {
	size_t taken, ignored, refused; /* ignored: git's own ignore rules leave them out */
};

/*
 * One commit on top of HEAD with the session's version of every chosen path, as the new branch 'name'.
 * Content is stored as it is: no filter of the repository runs. -EEXIST when there is such a branch.
 * Where nothing is taken none is made.
 */
int branch_make(struct cow *cow, const struct changes *changes, char *const *paths, size_t n_paths,
		const char *name, struct branch_report *ret, struct err *err);
