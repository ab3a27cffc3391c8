/* SPDX-License-Identifier: MIT */
/* What stands at a path: enough to tell whether it is still the same. */
#pragma once

#include <sys/stat.h>

#include "base/util.h"

struct node {
	mode_t mode; /* 0: nothing is there */
	uint64_t size;
	int64_t mtime, ctime; /* in nanoseconds; ctime is not compared */
	uint64_t ino;
};

static inline bool node_exists(const struct node *node)
{
	return node->mode != 0;
}

/* The same kind of thing. */
static inline bool node_same_kind(const struct node *a, const struct node *b)
{
	return (a->mode & S_IFMT) == (b->mode & S_IFMT);
}

struct node node_from_stat(const struct stat *st);
/* Without following a link; what cannot be looked at is -errno, what is not there an empty node. */
int node_at(int dir, const char *name, struct node *ret);
/* Nobody has changed it: kind, mode, and for what is no directory size, time and inode. */
bool node_is_same(const struct node *a, const struct node *b);

/* Opens a regular file without following links or waiting; a mode that forbids reading to us, who own
 * it, is changed for that moment. Descriptor or -errno. */
int node_open(int dir, const char *name);
int node_open_dir(int dir, const char *name);
/* The directory that a path below root is in, reached by no link; descriptor or -errno. */
int node_open_parent(int root, const char *path);

/* 1 when two regular files, or two links, hold the same; 0 when not; or -errno. */
int node_same_content(int dir_a, const char *name_a, const struct node *a, int dir_b,
		      const char *name_b, const struct node *b);

/* The next hexadecimal number of a line that describes nodes, and the blank after it. */
bool node_take_number(char **p, uint64_t *ret);
