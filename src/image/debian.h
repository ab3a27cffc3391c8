/* SPDX-License-Identifier: MIT */
/* Debian packages as a source: mmdebstrap makes a root of them, without privileges. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

/* Makes an archive of a root with these packages, by name, from where this machine's own apt gets
 * its packages. What mmdebstrap says goes to the descriptor 'log'. */
int debian_make_tar(const char *tar, const struct strv *packages, const char *architecture, int log,
		    struct err *err);
