/* SPDX-License-Identifier: MIT */
/*
 * Where images are kept: one OCI layout for all of them, so that layers they share are there once.
 *
 *	$XDG_CACHE_HOME/wrapix/images/
 *		oci-layout index.json blobs/sha256/...	the layout
 *		lock					who changes the index has it
 *		use					writers of blobs share it; gc wants it alone
 *		roots names				unpacked, see unpack.h
 *		changes					of sessions, on kernels before 6.6 (api/image.c)
 *
 * A kill at any time leaves a valid layout, and at most blobs that nothing names; gc removes those.
 */
#pragma once

#include "image/oci.h"

struct store {
	int dir, blobs, use;
};

/* Opens the store, making what is missing. */
int layout_open(struct store *store, const char *path, struct err *err);
/* The same for any layout of the user's, where nothing of ours is put that a layout has not. */
int layout_open_other(struct store *store, const char *path, struct err *err);
/* Somebody else's layout, to read: nothing is made or locked there. */
int layout_open_foreign(struct store *store, const char *path, struct err *err);
void layout_close(struct store *store);
#define STORE_NONE                                \
	{                                         \
		.dir = -1, .blobs = -1, .use = -1 \
	}

/* Gives an image that is in the blobs its name. */
int layout_name(struct store *store, const char *name, const struct blob_ref *manifest,
		struct err *err);
/* The same for who has the layout alone. */
int layout_put(struct store *store, const char *name, const struct blob_ref *manifest,
	       struct err *err);
/* Takes a name away; -ENOENT when nobody has it. The blobs stay until gc. */
int layout_forget(struct store *store, const char *name, struct err *err);

struct store_gc {
	uint64_t blobs, bytes; /* that were removed */
};
/* Removes what no image needs. Fails with -EBUSY while something is written. */
int layout_gc(struct store *store, struct store_gc *ret, struct err *err);

/* Removes what a killed build left, where nobody else is at work in the store. */
int layout_tidy(struct store *store, struct err *err);

/* Every blob of the image is there and is what its name says. */
int layout_verify(const struct store *store, const struct oci_image *image, struct err *err);
