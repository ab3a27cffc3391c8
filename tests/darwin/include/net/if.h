/* SPDX-License-Identifier: MIT */
/* Of macOS, what the tree uses: declarations only, for the check that it compiles there. */
#pragma once

unsigned if_nametoindex(const char *);
char *if_indextoname(unsigned, char *);
#define IF_NAMESIZE 16
#define IFNAMSIZ 16
