/* SPDX-License-Identifier: MIT */
/*
 * A stream's first bytes as a TLS hello: whole, in pieces, and by a second, plain parser that joins
 * the records in memory first. All must agree.
 */
#include "net/hello.h"
#include "fuzz.h"

#include <string.h>

struct cursor {
	const uint8_t *p;
	size_t len;
};

static bool number(struct cursor *c, unsigned bytes, size_t *ret)
{
	if (c->len < bytes)
		return false;
	for (*ret = 0; bytes; bytes--, c->p++, c->len--)
		*ret = *ret << 8 | *c->p;
	return true;
}

/* What follows a length of that many bytes. */
static bool block(struct cursor *c, unsigned bytes, struct cursor *ret)
{
	size_t len;

	if (!number(c, bytes, &len) || len > c->len)
		return false;
	*ret = (struct cursor){ c->p, len };
	c->p += len;
	c->len -= len;
	return true;
}

static bool plain_sni(struct cursor ext, char name[NAME_SIZE])
{
	struct cursor list, host;
	size_t type;

	return block(&ext, 2, &list) && !ext.len && number(&list, 1, &type) && type == 0 &&
	       block(&list, 2, &host) && !list.len &&
	       name_canonical((const char *)host.p, host.len, name);
}

static enum hello_result plain_body(struct cursor body, char name[NAME_SIZE])
{
	struct cursor session, ciphers, compression, exts, ext;
	size_t version, type;
	bool sni = false;

	if (!number(&body, 2, &version) || version >> 8 != 3 || body.len < 32)
		return HELLO_BAD;
	body.p += 32;
	body.len -= 32;
	if (!block(&body, 1, &session) || session.len > 32 || !block(&body, 2, &ciphers) ||
	    !ciphers.len || ciphers.len % 2 || !block(&body, 1, &compression) || !compression.len)
		return HELLO_BAD;
	if (!body.len)
		return HELLO_NO_SNI;
	if (!block(&body, 2, &exts) || body.len)
		return HELLO_BAD;
	while (exts.len) {
		if (!number(&exts, 2, &type) || !block(&exts, 2, &ext))
			return HELLO_BAD;
		if (type == 0 && (sni || !plain_sni(ext, name)))
			return HELLO_BAD;
		sni = sni || type == 0;
	}
	return sni ? HELLO_SNI : HELLO_NO_SNI;
}

/*
 * Only a whole message is judged: HELLO_MORE when it is not there. The parser in pieces may know of
 * a fault earlier.
 */
static enum hello_result plain(const uint8_t *data, size_t size, char name[NAME_SIZE])
{
	struct cursor in = { data, MIN(size, (size_t)HELLO_MAX) };
	static uint8_t joined[HELLO_MAX];
	size_t len = 0;

	if (!size)
		return HELLO_MORE;
	if (data[0] < 20 || data[0] > 24)
		return HELLO_NOT_TLS;
	while (in.len >= 5) {
		size_t declared = (size_t)in.p[3] << 8 | in.p[4], n = MIN(declared, in.len - 5);

		if (in.p[0] != 22 || in.p[1] != 3 || !declared || declared > 16384)
			return HELLO_BAD;
		memcpy(joined + len, in.p + 5, n);
		len += n;
		in.p += 5 + n;
		in.len -= 5 + n;
		if (len >= 4 && (joined[0] != 1 || joined[1] > 1))
			return HELLO_BAD;
		if (len >= 4) {
			size_t body = (size_t)joined[1] << 16 | (size_t)joined[2] << 8 | joined[3];

			if (len - 4 >= body)
				return plain_body((struct cursor){ joined + 4, body }, name);
		}
	}
	return size > HELLO_MAX ? HELLO_BAD : HELLO_MORE;
}

static void compare(const struct hello *a, const struct hello *b)
{
	check(a->result == b->result && a->fed == b->fed);
	check(a->result != HELLO_SNI || !strcmp(a->name, b->name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hello whole = { 0 }, bytes = { 0 }, pieces = { 0 };
	char name[NAME_SIZE], again[NAME_SIZE];
	enum hello_result other;

	hello_feed(&whole, data, size);
	for (size_t i = 0; i < size; i++)
		hello_feed(&bytes, data + i, 1);
	for (size_t i = 0, n = 1; i < size; i += n, n = n % 7 + 1)
		hello_feed(&pieces, data + i, MIN(n, size - i));
	compare(&whole, &bytes);
	compare(&whole, &pieces);
	check(whole.fed <= HELLO_MAX && whole.fed <= size);
	other = plain(data, size, name);
	/* A fault may show before the message is whole, and then it stays. */
	check(other == whole.result || (whole.result == HELLO_BAD && other == HELLO_MORE));
	if (whole.result == HELLO_SNI) {
		check(!strcmp(whole.name, name) && hello_matches(&whole, name));
		check(name_canonical(name, strlen(name), again) && !strcmp(name, again));
	}
	return 0;
}
