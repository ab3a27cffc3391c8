/* SPDX-License-Identifier: MIT */
/* Names as archives have them. */
#pragma once

#include <stddef.h>

#define NAME_SIZE 4096

/* "./usr//bin/" becomes "usr/bin", "." becomes ""; NULL for what leaves the root or is too long. */
const char *name_clean(const char *name, char buffer[NAME_SIZE]);
