/* SPDX-License-Identifier: MIT */
/*
 * Building an image: a source is gone through first to see which package owns what and how large each is,
 * and then once more by each of a few processes, which write their share of the layers side by side.
 * Nothing is kept but names, so that memory stays flat whatever the layers' size.
 */
#pragma once

#include "image/source.h"
#include "image/store.h"

struct build_how {
	enum compression compression;
	const struct strv *ranked; /* packages in the order of their popularity; or NULL */
	/* From time to time: bytes of content taken in, of how many. May be NULL. */
	void (*on_progress)(void *ctx, uint64_t done, uint64_t total);
	void *ctx;
};

/* Files of the source that ours are merged with: its text, or NULL. */
struct build_found {
	char *passwd, *group;
};

/* Adds the source's layers to the image, in whose arena the found files are. */
int build_from_source(struct store *store, const struct source *source, const struct build_how *how,
		      struct oci_image *image, struct build_found *ret_found, struct err *err);
/* All of it as one layer. */
int build_from_tree(struct store *store, const struct source *source, const struct build_how *how,
		    struct oci_image *image, struct err *err);

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
		     const struct build_how *how, struct oci_image *image, struct err *err);
