/* SPDX-License-Identifier: MIT */
/* The root while it is built: root.c has its beginning and its end, root_ops.c the plan's operations. */
#pragma once

#include <limits.h>
#include <sys/stat.h>

#include "engine/native/native.h"

struct root {
	struct child *child;
	bool host; /* the host's tree is the root */
	int fd, scratch;
	int *early; /* for each operation its source, cloned before anything of ours lay over it; 0: none */
	dev_t dev, scratch_dev;
	int n_scratch;
	int gate;            /* what is the gate's, until the root is made; -1: none */
	dev_t image_dev[32]; /* of what stands on top of an image: ours to change */
	size_t n_images;
	/* Where a directory of ours on the host stands: names may be made in it. */
	const char *kept;
	/* The directory that the last operation worked in: most work in the same one. */
	char parent_path[PATH_MAX];
	int parent;
	bool parent_own, parent_image;
};

/* In the new namespaces, with all capabilities over them: carries the child's plan out. */
int root_begin(struct root *root, struct child *child, struct err *err);
/* The same with the plan of an order, where one came; then enters the root, and is done with it. */
int root_complete(struct root *root, struct err *err);

/* What was held of earlier sessions is put in its place. */
void root_carry(struct root *root);

/* --- for the files of the root --- */

unsigned root_mount_flags(const struct op *op);

/* The source of a bind, detached. A descriptor or -errno. */
int root_clone_source(struct root *root, const struct op *op);

/* Carries one operation out. */
int root_do(struct root *root, const struct op *op, struct err *err);

/* The same over what is there, or -errno in the mount's place; an optional one may be out of reach. */
int root_cover_by(struct root *root, const struct op *op, int fd, struct err *err);

/* A generated or empty thing of the scratch file system, read-only over what is there. */
int root_cover(struct root *root, const struct op *op, const char *name, struct err *err);

/* OP_DENY, OP_PASS; then, when everything stands, what is not on a way is denied. */
int root_deny(struct root *root, const struct op *op, struct err *err);
int root_pass(struct root *root, const struct op *op, struct err *err);
int root_close_ways(const struct root *root, struct err *err);
