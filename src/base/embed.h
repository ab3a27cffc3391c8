/* SPDX-License-Identifier: MIT */
/* Data files that tools/embed.py puts into the program. */
#pragma once

#include <stddef.h>

struct embedded {
	const char *name; /* the file's, without directory and extension; NULL ends a list */
	const char *data; /* NUL-terminated */
	size_t len;
};
