/* SPDX-License-Identifier: MIT */
/* Of macOS, what the tree uses: declarations only, for the check that it compiles there. */
#pragma once

#define LC_ALL 0
#define LC_CTYPE 2
char *setlocale(int, const char *);
