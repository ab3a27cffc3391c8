/* SPDX-License-Identifier: MIT */
/*
 * Which system wrapix is to behave for. WRAPIX_PLATFORM=darwin, or =linux, says so in the real one's place:
 * the tests go through what is done on a Mac, with stand-ins for its programs. Programs of that platform
 * are looked up and run; nothing else becomes possible by it.
 */
#pragma once

#include <stdbool.h>

/* "linux" or "darwin". */
const char *os_platform(void);
bool os_is_darwin(void);
