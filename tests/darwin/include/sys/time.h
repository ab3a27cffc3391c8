/* SPDX-License-Identifier: MIT */
/* Of macOS, what the tree uses: declarations only, for the check that it compiles there. */
#pragma once

#include <time.h>
struct timeval {
	time_t tv_sec;
	suseconds_t tv_usec;
};
struct itimerval {
	struct timeval it_interval, it_value;
};
int gettimeofday(struct timeval *, void *);
int utimes(const char *, const struct timeval *);
int setitimer(int, const struct itimerval *, struct itimerval *);
