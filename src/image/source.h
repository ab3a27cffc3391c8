/* SPDX-License-Identifier: MIT */
/*
 * What an image is made from, seen as a list of entries that can be gone through more than once: a
 * tar archive, a directory, or paths of a Nix store. Names come relative and clean ("usr/bin/make"), the root itself not at
 * all; a name that leaves the root is an error.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"

struct archive_entry;

enum source_kind { SOURCE_TAR, SOURCE_DIR, SOURCE_STORE };

struct source {
	enum source_kind kind;
	const char *path;
	const char *prefix; /* SOURCE_DIR: where it stands in the image; NULL: it is the root */
	const struct strv *names; /* SOURCE_STORE: of 'path', in this order */
};

/* Reads of the current entry's content; returns the bytes, 0 at the end, or -errno. */
typedef ssize_t source_read_fn(void *from, void *buffer, size_t len);

/* An entry; 'read(from, ...)' gives its content. Returns 0 to go on, or a negative errno. */
typedef int source_fn(void *ctx, struct archive_entry *entry, source_read_fn *read, void *from,
		      struct err *err);

/* Entries of a directory or a store are sorted by name, and all belong to root; an archive's come as they are. */
int source_visit(const struct source *source, source_fn *fn, void *ctx, struct err *err);

/* For the files of this room: an archive (source_tar.c). */
int source_visit_tar(const struct source *source, source_fn *fn, void *ctx, struct err *err);
