/* SPDX-License-Identifier: MIT */
/*
 * Where a path of the project leads by the links in it, as the kernel goes it: '..' after a link is above what the link
 * leads to. A name that is not there is a plain one, so that it is known where something would come to be.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* A project as these directories show it together: of a name the first that has it tells. */
struct way_view {
	const int *roots;
	size_t n;
	const char *project; /* canonical */
};

/* The path without a link in it, seen from the project; false: it leaves the project, or is too long a way. */
bool way_find(const struct way_view *view, const char *path, char ret[PATH_MAX]);
