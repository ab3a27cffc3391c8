/* SPDX-License-Identifier: MIT */
/* Base64 as RFC 4648 has it, with padding. */
#pragma once

#include <sys/types.h>

#include "base/str.h"

void base64_add(struct str *out, const void *data, size_t len);

/* Decodes len characters into at most max bytes; returns how many, or -1: not base64 in its one
 * canonical form, or too long. ret may be text itself. */
ssize_t base64_decode(const char *text, size_t len, void *ret, size_t max);
