/* SPDX-License-Identifier: MIT */
/* Of macOS, what the tree uses: declarations only, for the check that it compiles there. */
#pragma once

#include <sys/types.h>
#define PT_DENY_ATTACH 31
int ptrace(int, pid_t, char *, int);
