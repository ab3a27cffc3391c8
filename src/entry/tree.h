/* SPDX-License-Identifier: MIT */
/*
 * Copying a tree of ours into a place that is not: no name is followed or replaced there, what stands
 * there stays.
 */
#pragma once

#include "base/err.h"

struct tree {
	/* Everything that is made belongs to these; -1U: to whoever makes it. */
	unsigned uid, gid;
	/* "${NAME}" in a file's text, and what it becomes; NULL: none. */
	const char *hole, *filling;
};
#define TREE_AS_IS       \
	{                \
		-1U, -1U \
	}

/* The content of directory 'from' to directory 'to'; absent is fine. The error says where it failed. */
int tree_copy_to(const struct tree *tree, const char *from, const char *to, struct err *err);
