/* SPDX-License-Identifier: MIT */
/*
 * Unpacking layers into a directory: hostile input. Everything happens beneath one descriptor, with
 * symbolic links that never lead out of it; what an ordinary user cannot or should not have (devices,
 * set-user-ID bits, other owners) is left out. Sizes and counts are bounded.
 */
#pragma once

#include "image/store.h"

struct unpack_limits {
	uint64_t bytes, entries; /* of files */
	/* Of what is gone through for them, which is more than once, headers included. */
	uint64_t stream;
};
#define UNPACK_LIMITS                                                            \
	{                                                                        \
		.bytes = 64ULL << 30, .entries = 4000000, .stream = 160ULL << 30 \
	}

/* The entry's file has as many bytes at most, which are taken off: what says of itself that it is too big is neither
 * unpacked nor gone through. A few megabytes can stand for a terabyte. */
struct archive_entry;
bool unpack_fits(struct archive_entry *entry, uint64_t *left);
int unpack_too_big(struct err *err);

/* One layer on top of what is in 'root'; takes what it used off 'left'. */
int unpack_layer(int root, int blob, struct unpack_limits *left, struct err *err);

/*
 * The merged root of an image: unpacked once, into roots/DIGEST, by a child that may write nothing
 * else. Returns a descriptor of a file that is locked (shared) as long as it is open: gc leaves that
 * root alone. *ret_path is in the arena. Signals are held (interrupt.h).
 */
int unpack_image(struct store *store, const struct oci_image *image, struct arena *arena,
		 char **ret_path, struct err *err);
/* The same, and makes names/NAME a link to its root, which is how a sandbox finds it (spec/host_image.c). */
int unpack_named(struct store *store, const struct oci_image *image, const char *name,
		 struct arena *arena, char **ret_path, struct err *err);
/* Removes the roots that no image has and nobody uses. */
int unpack_gc(struct store *store, const struct oci_index *index, struct err *err);
