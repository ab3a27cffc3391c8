/* SPDX-License-Identifier: MIT */
/* SSH's wire format. Everything read here may be hostile: lengths are checked before they are used. */
#include "keys/wire.h"

#include <string.h>

bool blob_equal(struct blob a, struct blob b)
{
	return a.len == b.len && (!a.len || !memcmp(a.p, b.p, a.len));
}

bool blob_is(struct blob a, const char *text)
{
	return blob_equal(a, (struct blob){ (const uint8_t *)text, strlen(text) });
}

static void skip(struct blob *in, size_t n)
{
	in->p += n;
	in->len -= n;
}

bool wire_byte(struct blob *in, uint8_t *ret)
{
	if (in->len < 1)
		return false;
	*ret = in->p[0];
	skip(in, 1);
	return true;
}

bool wire_u32(struct blob *in, uint32_t *ret)
{
	if (in->len < 4)
		return false;
	*ret = load_be32(in->p);
	skip(in, 4);
	return true;
}

bool wire_string(struct blob *in, struct blob *ret)
{
	uint32_t len;

	if (in->len < 4)
		return false;
	len = load_be32(in->p);
	if (len > in->len - 4)
		return false;
	*ret = (struct blob){ in->p + 4, len };
	skip(in, 4 + (size_t)len);
	return true;
}

void wire_put_bytes(struct wire_out *out, const void *data, size_t len)
{
	if (out->overflow || len > out->size - out->len) {
		out->overflow = true;
		return;
	}
	if (len)
		memcpy(out->p + out->len, data, len);
	out->len += len;
}

void wire_put_byte(struct wire_out *out, uint8_t byte)
{
	wire_put_bytes(out, &byte, 1);
}

void wire_put_u32(struct wire_out *out, uint32_t n)
{
	const uint8_t bytes[] = { (uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8),
				  (uint8_t)n };

	wire_put_bytes(out, bytes, sizeof(bytes));
}

void wire_put_string(struct wire_out *out, const void *data, size_t len)
{
	wire_put_u32(out, (uint32_t)len);
	wire_put_bytes(out, data, len);
}
