/* SPDX-License-Identifier: MIT */
/* Time as a descriptor: one that becomes readable when it has come. For the loop, or poll(). */
#pragma once

#include <stdbool.h>

/* At rest; -1 with errno on failure. */
int os_timer_open(void);
/* In so many milliseconds and then every so many (0: once); first 0: at rest. 0, or -1 with errno. */
int os_timer_set(int fd, unsigned first_ms, unsigned every_ms);
/* Its time had come; it is no longer readable. */
bool os_timer_take(int fd);
