/* SPDX-License-Identifier: MIT */
/*
 * Building an image: a source is gone through twice, once to see which package owns what and once to
 * write all layers side by side, so that memory stays flat whatever their size; then a last layer with
 * what wrapix itself puts in.
 */
#pragma once

#include "image/source.h"
#include "image/store.h"

struct build_hooks {
	/* From time to time: bytes of content taken in, of how many. */
	void (*on_progress)(void *ctx, uint64_t done, uint64_t total);
	void *ctx;
};

/* Adds the source's layers to the image. */
int build_from_source(struct store *store, const struct source *source, struct oci_image *image,
		      const struct build_hooks *hooks, struct err *err);

/* A file of ours, by its path in the image. */
struct build_file {
	const char *path; /* no leading '/' */
	unsigned mode;    /* with its type: S_IFREG, S_IFDIR, S_IFLNK */
	const char *data; /* content, or where the link leads */
	size_t len;
	unsigned uid, gid;
};

/* Adds one layer with these, in this order. */
int build_from_files(struct store *store, const struct build_file *files, size_t n,
		     struct oci_image *image, struct err *err);
