/* SPDX-License-Identifier: MIT */
/*
 * Which layer a file goes to, so that a changed package changes one small layer: each big package has
 * a layer of its own, the small ones share a few (always the same for the same name), directories
 * stand in the first and what belongs to no package in the last. Pure.
 *
 * A path of a Nix store is a package that owns all below it. Where somebody ranks them, the first have a
 * layer each, whatever their size, and the rest share the last.
 */
#pragma once

#include "base/arena.h"
#include "base/util.h"

enum { SPLIT_BIG = 4 * 1024 * 1024, SPLIT_MAX_BIG = 48, SPLIT_SHARED = 12, SPLIT_MAX_RANKED = 96 };

struct split;

struct split *split_new(void);
void split_free(struct split *split);

/* The most popular first; or never. */
void split_rank(struct split *split, const char *package);
/* First all files of all packages, as the package lists them ("/usr/bin/make")... */
void split_own(struct split *split, const char *package, const char *path);
/* ... and how long each is; then the packages are laid out ... */
void split_size(struct split *split, const char *path, uint64_t size);
size_t split_layout(struct split *split); /* returns the number of layers */
/* ... with about this much in each, of 'total' in all ... */
void split_sizes(const struct split *split, uint64_t total, uint64_t *ret);
/* ... and then every path has its layer. */
size_t split_layer(struct split *split, const char *path, bool is_dir);
