/* SPDX-License-Identifier: MIT */
/*
 * The documents of an OCI image: configuration, manifest, index. Written with their keys in a fixed
 * order, so that equal images are equal bytes; read as hostile input, with everything capped.
 */
#pragma once

#include "base/arena.h"
#include "image/layer.h"

enum {
	OCI_MAX_LAYERS = 512,
	OCI_MAX_DOCUMENT = 4 * 1024 * 1024,
	OCI_MAX_IMAGES = 4096,
	OCI_MAX_LABELS = 1024
};

struct oci_layer {
	struct blob_ref blob;
	char diff_id[DIGEST_HEX];
	enum compression compression;
};

struct oci_image {
	struct arena arena;
	char *os, *architecture, *variant;
	char *user, *workdir;
	struct strv env, entrypoint, cmd;
	struct strv labels; /* "key", "value", ...: sorted by key */
	struct oci_layer *layers;
	size_t n_layers;
	struct blob_ref manifest, config; /* where it was read from, or written to */
};

void oci_image_release(struct oci_image *image);
void oci_add_layer(struct oci_image *image, const struct layer_ref *layer);

/* Sets a variable, over an earlier value; reads one, NULL when it is not set. */
void oci_set_env(struct oci_image *image, const char *name, const char *value);
const char *oci_env(const struct oci_image *image, const char *name);

int oci_write_image(int blobs, struct oci_image *image, struct err *err);
/* 'image->manifest' says which; everything else is filled. */
int oci_read_image(int blobs, struct oci_image *image, struct err *err);

/* What a layout holds, by name. */
struct oci_name {
	char *name;
	struct blob_ref manifest;
};
struct oci_index {
	struct arena arena;
	struct oci_name *names;
	size_t n;
};

void oci_index_release(struct oci_index *index);
/* 'dir' is the layout's. One without an index is empty. */
int oci_read_index(int dir, struct oci_index *ret, struct err *err);
/* The text of index.json, and that of oci-layout. */
struct str;
void oci_format_index(const struct oci_index *index, struct str *out);
extern const char oci_layout_text[];
/* Writes both, each atomically. */
int oci_write_index(int dir, const struct oci_index *index, struct err *err);
/* Puts name at this image, instead of whatever had it. */
void oci_index_put(struct oci_index *index, const char *name, const struct blob_ref *manifest);
/* By name, or by the first digits of the digest (at least 8); NULL when none or several. */
const struct oci_name *oci_index_find(const struct oci_index *index, const char *word);
