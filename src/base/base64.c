/* SPDX-License-Identifier: MIT */
/* Base64: the one form that is canonical is read, so that equal bytes are equal text. */
#include "base/base64.h"

#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_add(struct str *out, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < len; i += 3) {
		uint32_t n = (uint32_t)p[i] << 16;
		char four[4];

		n |= i + 1 < len ? (uint32_t)p[i + 1] << 8 : 0;
		n |= i + 2 < len ? p[i + 2] : 0;
		for (int k = 0; k < 4; k++)
			four[k] = digits[n >> (18 - 6 * k) & 63];
		if (i + 2 >= len)
			four[3] = '=';
		if (i + 1 >= len)
			four[2] = '=';
		str_addn(out, four, 4);
	}
}

/* Not by a table of where each character stands: the place in memory would tell of a secret. */
static int value(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

ssize_t base64_decode(const char *text, size_t len, void *ret, size_t max)
{
	uint8_t *out = ret;
	size_t n = 0;

	if (len % 4)
		return -1;
	for (size_t i = 0; i < len; i += 4) {
		size_t pad = i + 4 == len ? (text[i + 3] == '=') + (text[i + 2] == '=') : 0;
		uint32_t word = 0;

		for (size_t k = 0; k < 4; k++) {
			int v = k < 4 - pad ? value(text[i + k]) : text[i + k] == '=' ? 0 : -1;

			if (v < 0)
				return -1;
			word = word << 6 | (uint32_t)v;
		}
		/* What the padding cuts off must be nothing. */
		if (n + 3 - pad > max || (word & ((1U << 8 * pad) - 1)))
			return -1;
		for (size_t k = 0; k < 3 - pad; k++)
			out[n++] = (uint8_t)(word >> (16 - 8 * k));
	}
	return (ssize_t)n;
}
