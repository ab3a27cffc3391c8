/* SPDX-License-Identifier: MIT */
/* Of macOS, what the tree uses: declarations only, for the check that it compiles there. */
#pragma once

#include <stdint.h>
#define PRId64 "lld"
#define PRIu64 "llu"
#define PRIx64 "llx"
#define PRIX64 "llX"
#define PRIu32 "u"
#define PRIi64 "lli"
#define PRIx32 "x"
#define SCNu64 "llu"
#define SCNx64 "llx"
