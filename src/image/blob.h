/* SPDX-License-Identifier: MIT */
/*
 * Blobs: files named by the SHA-256 of their content, as an OCI image layout keeps them in
 * blobs/sha256. A blob is written under a name of its own and gets its real one when it is whole, so
 * that a kill leaves no half of one; what was there already is not written twice.
 */
#pragma once

#include <openssl/evp.h>

#include "base/err.h"
#include "base/util.h"

#define DIGEST_HEX 65
#define DIGEST_PREFIX "sha256:"

/* Something in a layout, as documents refer to it. */
struct blob_ref {
	char digest[DIGEST_HEX]; /* without the prefix */
	uint64_t size;
};

struct blob_writer {
	int dir; /* of blobs/sha256; not ours */
	int fd;
	char temporary[32];
	EVP_MD_CTX *hash;
	uint64_t size;
};

int blob_begin(struct blob_writer *writer, int dir, struct err *err);
int blob_write(struct blob_writer *writer, const void *data, size_t len, struct err *err);
int blob_end(struct blob_writer *writer, struct blob_ref *ret, struct err *err);
/* Forgets it; harmless after blob_end(). */
void blob_abort(struct blob_writer *writer);

/* A whole blob from memory. */
int blob_put(int dir, const void *data, size_t len, struct blob_ref *ret, struct err *err);
/* The whole content of a small one, malloc'ed and NUL-terminated; its digest is checked. */
int blob_get(int dir, const struct blob_ref *ref, size_t max, char **ret, struct err *err);
/* Opens one for reading; its size is checked, its digest is not. */
int blob_open(int dir, const struct blob_ref *ref, struct err *err);
/* From one layout to another; what comes out must be what its name says. */
int blob_copy(int from, int to, const struct blob_ref *ref, struct err *err);
/* Reads all of it and compares. */
int blob_verify(int dir, const struct blob_ref *ref, struct err *err);

/* 64 lower-case hexadecimal digits after "sha256:"? Copies them. */
bool digest_parse(const char *text, char ret[DIGEST_HEX]);
void digest_finish(EVP_MD_CTX *hash, char ret[DIGEST_HEX]);
EVP_MD_CTX *digest_begin(void);
