/* SPDX-License-Identifier: MIT */
/* The image of a run. */
#pragma once

#include <limits.h>

#include "spec/host.h"

struct image_use {
	int lock;           /* on the image's root: nobody removes it */
	int changes;        /* on the directory of its changes: nobody but us removes that */
	char dir[PATH_MAX]; /* ... which is here; "" when memory holds them */
};

/* Holds the image's root while the sandbox runs, and makes a place for its changes where the disk must
 * have them. Without an image there is nothing to hold. -errno with a reason when it cannot. */
int image_hold(const struct host *host, const char *session, struct image_use *ret,
	       struct err *err);
void image_let_go(struct image_use *use);

/* True when the image of the spec is unpacked. */
bool image_is_there(struct spec *spec);
