/* SPDX-License-Identifier: MIT */
/* Copying files and trees, and other walks over a tree that know nothing of sessions. */
#pragma once

#include <sys/stat.h>

#include "base/err.h"

/* The content of one regular file, shared on the disk where that is possible. */
int copy_content(int from, int to);

/* The user's own extended attributes, without the overlay's marks. What does not fit is left. */
void copy_xattrs(int from, int to);

/* The tree or file 'from' as the new name 'to': content, modes, times, links; what is neither file,
 * directory nor link is left out. Never leaves the file system. */
int copy_tree(int from_dir, const char *from, int to_dir, const char *to, struct err *err);

/* Gives us the right to remove what is in there. */
void open_up_tree(int dir);

/* Bytes on the disk. */
uint64_t tree_usage(int dir);
