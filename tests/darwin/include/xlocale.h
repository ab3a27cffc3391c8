/* SPDX-License-Identifier: MIT */
/* Of macOS, what the tree uses: declarations only, for the check that it compiles there. */
#pragma once

#include <stddef.h>
typedef struct _xlocale *locale_t;
#define LC_ALL_MASK 0x3f
locale_t newlocale(int, const char *, locale_t);
locale_t uselocale(locale_t);
void freelocale(locale_t);
double strtod_l(const char *, char **, locale_t);
