/* SPDX-License-Identifier: MIT */
/* SHA-256 for trust records: start-up must not load libcrypto for one hash. */
#pragma once

#include "base/util.h"

#define SHA256_HEX 65

/* Writes 64 lower-case digits and a NUL. */
void sha256_hex(const void *data, size_t len, char ret_hex[SHA256_HEX]);
