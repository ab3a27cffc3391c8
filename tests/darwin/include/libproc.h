/* SPDX-License-Identifier: MIT */
/* Of macOS, what the tree uses: declarations only, for the check that it compiles there. */
#pragma once

#include <sys/types.h>
int proc_listallpids(void *, int);
int proc_pidpath(int, void *, unsigned int);
int proc_name(int, void *, unsigned int);
