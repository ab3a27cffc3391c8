/* SPDX-License-Identifier: MIT */
/* A change to a file of the project that is about to be made in the sandbox's place, and the answer to it. */
#pragma once

#include <sys/stat.h>

#include "base/util.h"

struct protect_change {
	const char *path;      /* on the host */
	int dir;               /* the directory that it is in, */
	const char *name;      /* and its name there */
	const struct stat *st; /* what is there; NULL: nothing */
	bool enters;    /* nothing is changed: somebody goes there, and may change something */
	bool makes_dir; /* by mkdir */
	bool moves_dir; /* a directory comes there by a rename, or goes */
	int from;       /* where it comes from, O_PATH; -1: it goes, or is no directory */
	bool stays;     /* the name itself: it is removed, or only what is known about it changes */
	bool removes;   /* the first of these */
};

enum protect_answer {
	ANSWER_GO_ON,
	ANSWER_REFUSE, /* *ret_reason says why */
	ANSWER_HOLD, /* the directory that the first *ret_held bytes of the path name is made private */
};
