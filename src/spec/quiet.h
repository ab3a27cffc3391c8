/* SPDX-License-Identifier: MIT */
/* Times of day in which nothing is shown: "22:00-07:00,12:30-13:00". */
#pragma once

#include "base/util.h"

enum { QUIET_MAX = 8 };

struct quiet {
	struct {
		unsigned short from, to; /* minutes of the day; to before from: over midnight */
	} v[QUIET_MAX];
	size_t n;
};

/* 0, or -EINVAL for what is no list of times. "" is none. */
int quiet_parse(const char *text, struct quiet *ret);
bool quiet_at(const struct quiet *quiet, unsigned minute);
