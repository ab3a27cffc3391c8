/* SPDX-License-Identifier: MIT */
/*
 * A layer: a tar archive, compressed, whose bytes depend on nothing but what is in it. Names come in
 * the order they are added (sources add them sorted), times are one fixed time, owners are numbers,
 * and neither the machine nor the day leaves a trace.
 */
#pragma once

#include "image/blob.h"

struct archive;
struct archive_entry;

/* Each compression as the media type has it; in the order of preference for who must choose. */
enum compression { COMPRESS_GZIP, COMPRESS_ZSTD, COMPRESS_NONE, COMPRESS_COUNT };
extern const char *const compression_names[COMPRESS_COUNT + 1]; /* NULL-terminated */

struct packer; /* pack.h */

struct layer_writer {
	struct blob_writer blob;
	EVP_MD_CTX *plain; /* of the uncompressed archive: what the image's configuration names */
	struct archive *tar;
	struct packer *packer;
	struct err failure; /* in a callback, which has no other way to tell */
	uint64_t entries;
};

struct layer_ref {
	struct blob_ref blob;
	char diff_id[DIGEST_HEX];
	enum compression compression;
	uint64_t entries;
};

int layer_begin(struct layer_writer *layer, int blobs, enum compression how, struct err *err);
/* The entry's path has no leading '/'. Its times, and its owners' names, are replaced. */
int layer_add(struct layer_writer *layer, struct archive_entry *entry, struct err *err);
/* The content of the entry added last. */
int layer_data(struct layer_writer *layer, const void *data, size_t len, struct err *err);
int layer_end(struct layer_writer *layer, struct layer_ref *ret, struct err *err);
void layer_abort(struct layer_writer *layer);

#define LAYER_TIME 1 /* seconds; 0 is what some programs take for "no time" */
