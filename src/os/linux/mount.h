/* SPDX-License-Identifier: MIT */
/*
 * Mounts by descriptor (open_tree, mount_setattr, move_mount): mountinfo is never read, so the
 * thousandth mount costs what the first did.
 */
#pragma once

#include <sys/stat.h>

#include "base/err.h"

enum mount_flags {
	MOUNT_RO = 1 << 0,
	MOUNT_DEV = 1 << 1, /* device nodes work */
	MOUNT_NOEXEC = 1 << 2,
	MOUNT_RECURSIVE = 1 << 3, /* with what is mounted below */
};

struct fs_option {
	const char *key, *value; /* value NULL: a flag */
};

/* A new instance of a file system as a detached mount; returns its descriptor or -errno. */
int mount_new(const char *type, const struct fs_option *options, size_t n, unsigned flags);

/* A private copy of the tree at source_fd as a detached mount with these flags; always nosuid. */
int mount_clone(int source_fd, const char *path, unsigned flags);

/* Gives the mount at mount_fd these flags, and makes it private. */
int mount_set_flags(int mount_fd, unsigned flags);

/* Puts a detached mount in its place. */
int mount_attach(int mount_fd, int dir_fd, const char *path);

/* Turns the one mount at fd (not what is below) read-only. */
int mount_make_readonly(int fd);
/* Takes that from the one mount at fd. */
int mount_make_writable(int fd);

/* Joins the user and the mount namespace of a process; whoever does is one thread. */
int mount_enter(int pidfd);

/* What is there is a view of other directories: an overlay, or what a program (FUSE) makes of them. */
bool mount_is_view(int fd);

/* What '/..' leads to is the root itself, and no mount stacked on it. The old root may be the same
 * directory, in another mount. */
bool mount_is_uncovered(int root_fd);

/* Makes the mount at fd, attached on top of '/', the root, and lets go of the old one. */
int mount_pivot(int root_fd, struct err *err);
