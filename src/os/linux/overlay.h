/* SPDX-License-Identifier: MIT */
/* overlayfs without privileges: a view of a directory whose changes go elsewhere. */
#pragma once

#include "base/err.h"

/*
 * In a user namespace of our own: the directory at lower with all changes going to upper; work is an
 * empty directory beside it. Returns a detached mount or -errno. The descriptors may be O_PATH. What is
 * thrown away afterwards need not be synced when the mount goes.
 */
int overlay_mount(int lower, int upper, int work, bool thrown_away);

/* Both directories in one that only reads: a name is looked for in lower with the rights that the caller has
 * now. Returns a detached mount with these flags (os/linux/mount.h) or -errno. */
int overlay_view(int upper, int lower, unsigned flags);

/* True when a tmpfs holds the marks that an overlay makes: since Linux 6.6. Elsewhere an overlay that has
 * its changes there cannot remove a directory. */
bool overlay_tmpfs_works(void);

/* True when a directory at base, which exists, can hold the changes: tried in a child, by
 * mounting, and remembered there. What is left of one that was killed has a name that begins so. */
#define OVERLAY_PROBE ".probe."
bool overlay_probe(const char *base);
