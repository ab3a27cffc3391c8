/* SPDX-License-Identifier: MIT */
/* Time as a descriptor: one that becomes readable when it has come. For the loop, or poll(). */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Milliseconds that no setting of the clock changes, to be compared with each other. */
static inline int64_t os_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Milliseconds since 1970. */
static inline int64_t os_real_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* os_now_ms() in seconds, for how long something took. */
static inline double os_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* At rest; -1 with errno on failure. */
int os_timer_open(void);
/* In so many milliseconds and then every so many (0: once); first 0: at rest. 0, or -1 with errno. */
int os_timer_set(int fd, unsigned first_ms, unsigned every_ms);
/* Its time had come; it is no longer readable. */
bool os_timer_take(int fd);
