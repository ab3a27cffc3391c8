/* SPDX-License-Identifier: MIT */
/* The forms of RFC 4251 in which SSH writes its messages: bytes, numbers, strings. Pure. */
#pragma once

#include "base/util.h"

/* A piece of somebody else's buffer. */
struct blob {
	const uint8_t *p;
	size_t len;
};

bool blob_equal(struct blob a, struct blob b);
bool blob_is(struct blob a, const char *text);

/* Each takes a value off the front; false, and nothing is taken, when there is not enough. */
bool wire_byte(struct blob *in, uint8_t *ret);
bool wire_u32(struct blob *in, uint32_t *ret);
bool wire_string(struct blob *in, struct blob *ret);

/* A buffer of fixed size that is written to; what does not fit marks it as overflowed. */
struct wire_out {
	uint8_t *p;
	size_t len, size;
	bool overflow;
};

void wire_put_bytes(struct wire_out *out, const void *data, size_t len);
void wire_put_byte(struct wire_out *out, uint8_t byte);
void wire_put_u32(struct wire_out *out, uint32_t n);
void wire_put_string(struct wire_out *out, const void *data, size_t len);
