/* SPDX-License-Identifier: MIT */
/* Of macOS, what the tree uses: declarations only, for the check that it compiles there. */
#pragma once

#include <stdint.h>
#define SANDBOX_NAMED 0x0001
extern const char kSBXProfileNoWrite[];
int sandbox_init(const char *, uint64_t, char **);
void sandbox_free_error(char *);
