/* SPDX-License-Identifier: MIT */
/* Memory for secrets: never swapped where the limits allow it, never in a core file, empty in every
 * child, wiped at the end. */
#pragma once

#include "base/err.h"

struct secret {
	uint8_t *data; /* zeroed at the start */
	size_t size;   /* whole pages */
};

int secret_alloc(struct secret *secret, size_t size, struct err *err);
/* Safe for a zeroed one. */
void secret_free(struct secret *secret);

static inline void secret_free_ptr(struct secret *secret)
{
	secret_free(secret);
}
#define _cleanup_secret_ _cleanup_(secret_free_ptr)
