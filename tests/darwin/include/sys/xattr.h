/* SPDX-License-Identifier: MIT */
/* Of macOS, what the tree uses: declarations only, for the check that it compiles there. */
#pragma once

#include <sys/types.h>
ssize_t fgetxattr(int, const char *, void *, size_t, unsigned int, int);
int fsetxattr(int, const char *, const void *, size_t, unsigned int, int);
int fremovexattr(int, const char *, int);
ssize_t flistxattr(int, char *, size_t, int);
ssize_t getxattr(const char *, const char *, void *, size_t, unsigned int, int);
int setxattr(const char *, const char *, const void *, size_t, unsigned int, int);
#define XATTR_NOFOLLOW 0x0001
