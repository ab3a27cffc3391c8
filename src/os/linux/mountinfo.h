/* SPDX-License-Identifier: MIT */
/* The table of mounts, /proc/PID/mountinfo. Who may mount has chosen the names in it. */
#pragma once

#include "base/util.h"

struct mountinfo {
	uint64_t id;
	char *root;  /* of the mount, in its file system */
	char *point; /* where it is */
};

/* The next line of the text, which is changed on the way; false when there is none. A line that is none is passed over. */
bool mountinfo_next(char **at, struct mountinfo *ret);
