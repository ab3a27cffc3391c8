/* SPDX-License-Identifier: MIT */
/*
 * What an image is made from, seen as a list of entries that can be gone through more than once: a
 * tar archive, or a directory. Names come relative and clean ("usr/bin/make"), the root itself not at
 * all; a name that leaves the root is an error.
 */
#pragma once

#include "base/err.h"
#include "base/util.h"

struct archive_entry;

struct source {
	const char *path;
	bool is_dir;
};

/* Reads of the current entry's content; returns the bytes, 0 at the end, or -errno. */
typedef ssize_t source_read_fn(void *from, void *buffer, size_t len);

/* An entry; 'read(from, ...)' gives its content. Returns 0 to go on, or a negative errno. */
typedef int source_fn(void *ctx, struct archive_entry *entry, source_read_fn *read, void *from,
		      struct err *err);

/* A directory's entries are sorted by name, and all belong to root; an archive's come as they are. */
int source_visit(const struct source *source, source_fn *fn, void *ctx, struct err *err);
