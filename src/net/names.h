/* SPDX-License-Identifier: MIT */
/*
 * Host names in their one form, and the table that gives each allowed name an address of its own.
 *
 * The sandbox never sees real addresses: a name is answered with a synthetic pair, and a connection
 * to one of the pair is a connection to that name. The pair follows from the name alone (a hash,
 * with probing), so that caches inside survive a new supervisor.
 */
#pragma once

#include "net/address.h"

#define NAME_SIZE 254 /* 253 characters and a NUL */

/*
 * Writes the canonical form: lower case, one trailing dot removed. False unless every label is 1 to
 * 63 of [a-z0-9-_] and the last one is no number: "127.1" or "0x7f000001" is an address to a
 * resolver. len bytes are read; a NUL among them is a bad character like any other.
 */
bool name_canonical(const char *text, size_t len, char ret[NAME_SIZE]);
/* The canonical form of one byte of a label; -1 for a byte that no name has. */
int name_byte(unsigned char c);
/* Strictly below: "a.x" and "b.a.x" are below "x", "x" and "ax" are not. Both canonical. */
bool name_is_below(const char *name, const char *parent);

enum {
	NAMES_MAX = 8192,
	NAMES_SLOTS = 65536, /* addresses they are spread over */
	NAMES_PROBES = 64,   /* names made to collide end here, not in a long search */
};

struct names;

/* NULL without memory. All of it is taken here (pages are touched when used). */
struct names *names_new(void);
void names_free(struct names *names);
#define _cleanup_names_ _cleanup_(names_freep)
void names_freep(struct names **names);

/* The name's slot, which it gets when it has none; -ENOSPC when the table is full. */
int names_add(struct names *names, const char *name);
size_t names_count(const struct names *names);

/* A slot's two addresses: 198.18.1.0 + slot and fd53:b0c5:0:1::slot+1. */
struct address names_v4(int slot);
struct address names_v6(int slot);

/* The name behind a synthetic address, or NULL. Valid as long as the table. */
const char *names_at(const struct names *names, const struct address *addr);
/* True for every address that a name could have, given out or not. */
bool names_is_synthetic(const struct address *addr);
