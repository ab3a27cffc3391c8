/* SPDX-License-Identifier: MIT */
/* overlayfs without privileges: a view of a directory whose changes go elsewhere. */
#pragma once

#include "base/err.h"

/*
 * In a user namespace of our own: the directory at lower with all changes going to upper; work is an
 * empty directory beside it. Returns a detached mount or -errno. The descriptors may be O_PATH.
 */
int overlay_mount(int lower, int upper, int work);

/* True when a directory at base, which exists, can hold the changes: tried in a child, by
 * mounting, and remembered there. */
bool overlay_probe(const char *base);
