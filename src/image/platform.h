/* SPDX-License-Identifier: MIT */
/* Machines, as OCI (and Debian) names them. */
#pragma once

#include "base/err.h"

/* This one: "amd64". */
const char *platform_here(void);
/* "linux/arm64", "arm64" or "linux/arm64/v8": the architecture, and the variant or NULL. Both are
 * pointers into 'buffer'. */
int platform_parse(const char *text, char buffer[64], const char **ret_arch,
		   const char **ret_variant, struct err *err);
