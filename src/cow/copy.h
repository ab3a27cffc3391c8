/* SPDX-License-Identifier: MIT */
/* Copying files and trees, and other walks over a tree that know nothing of sessions. */
#pragma once

#include <sys/stat.h>

#include "base/err.h"

/* The content of one regular file, shared on the disk where that is possible; 'to' is an empty one. */
int copy_content(int from, int to);

/* The user's own extended attributes, without the overlay's marks. What does not fit is left. */
void copy_xattrs(int from, int to);

/* The tree or file 'from' as the new name 'to': content, modes, times, links; what is neither file,
 * directory nor link is left out. Never leaves the file system. */
int copy_tree(int from_dir, const char *from, int to_dir, const char *to, struct err *err);

/* The same of one thing of the user's that is to come back as it was: all bits of its mode, its group and its access
 * lists, too; and a pipe or a socket is made again. */
int copy_own(int from_dir, const char *from, int to_dir, const char *to, struct err *err);

/* The access list of that file, or the one that 'dir' gives to what is made in it. True when there is one: then the mode
 * has to be set again. */
bool copy_access(int from_dir, const char *from, int to_dir, const char *to);
bool copy_inherited(int dir, int to_dir, const char *to);
/* What is made in that directory gets no list of it. */
void copy_inherits_nothing(int dir);

/* Gives us the right to remove what is in there. */
void open_up_tree(int dir);

/* Bytes on the disk. */
uint64_t tree_usage(int dir);
