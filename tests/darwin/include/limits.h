/* SPDX-License-Identifier: MIT */
/* Of macOS, what the tree uses: declarations only, for the check that it compiles there. */
#pragma once

#include_next <limits.h>
#define PATH_MAX 1024
#define NAME_MAX 255
#define IOV_MAX 1024
#define ARG_MAX (1024 * 1024)
#define SSIZE_MAX 9223372036854775807L
#define PIPE_BUF 512
#define NGROUPS_MAX 16
#define OPEN_MAX 10240
