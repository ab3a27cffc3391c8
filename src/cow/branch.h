/* SPDX-License-Identifier: MIT */
/* A session's changes as a new branch of the project's repository, without touching its files. */
#pragma once

#include "cow/changes.h"

struct branch_report {
	struct arena arena;
	size_t taken, ignored, refused; /* ignored: git's own ignore rules leave them out */
	/* What lies in repositories of their own, of which no branch of this one can hold files. */
	struct branch_inner {
		const char *path;
		size_t changes;
	} * inner;
	size_t n_inner;
};
void branch_report_release(struct branch_report *report);

/*
 * One commit on top of HEAD with the session's version of every chosen path, as the new branch 'name'.
 * Content is stored as it is: no filter of the repository runs. -EEXIST when there is such a branch.
 * Where nothing is taken none is made. What the report says is to be released in any case.
 */
int branch_make(struct cow *cow, const struct changes *changes, char *const *paths, size_t n_paths,
		const char *name, struct branch_report *ret, struct err *err);
