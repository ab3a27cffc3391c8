/* SPDX-License-Identifier: MIT */
/* Of macOS, what the tree uses: declarations only, for the check that it compiles there. */
#pragma once

#include <stdint.h>
#define MNT_LOCAL 0x00001000
struct statfs {
	uint32_t f_type, f_flags;
	char f_fstypename[16];
};
int statfs(const char *, struct statfs *);
