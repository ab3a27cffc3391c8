/* SPDX-License-Identifier: MIT */
/* Of macOS, what the tree uses: declarations only, for the check that it compiles there. */
#pragma once

#define FNM_NOMATCH 1
#define FNM_NOESCAPE 1
#define FNM_PATHNAME 2
#define FNM_PERIOD 4
#define FNM_CASEFOLD 0x10
#define FNM_LEADING_DIR 0x08
int fnmatch(const char *, const char *, int);
