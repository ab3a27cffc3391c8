/* SPDX-License-Identifier: MIT */
/*
 * The server name of a TLS ClientHello.
 *
 * Theory of operation: two machines on top of each other. The lower one takes the record headers
 * out of the stream, the upper one walks through the ClientHello in steps, each of which is a
 * number of 1 to 3 bytes, bytes to pass over, or the name. A length is checked against what is
 * around it when it is read, so nothing can run out of its container. Nothing is buffered.
 *
 * The sender is hostile, and what matters is that we see the name that the server at the other end
 * will see. Where servers differ (a second name, a second extension, other records in between,
 * an alert first) the answer is HELLO_BAD. The whole hello is read before the name counts.
 * The name of an encrypted hello (ECH) cannot be seen; the outer one is what counts.
 */
#include "net/hello.h"

#include <string.h>

enum { RECORD_HEADER = 5, RECORD_MAX = 16384, RECORD_HANDSHAKE = 22, CLIENT_HELLO = 1 };
enum { EXTENSION_SNI = 0, SNI_HOST = 0, MAJOR = 3 };

enum step {
	TYPE,
	LENGTH,
	VERSION,
	RANDOM,
	SESSION_LEN,
	SESSION,
	CIPHERS_LEN,
	CIPHERS,
	COMPRESSION_LEN,
	COMPRESSION,
	EXTENSIONS_LEN,
	EXTENSION_TYPE,
	EXTENSION_LEN,
	EXTENSION,
	LIST_LEN,
	ENTRY_TYPE,
	ENTRY_LEN,
	NAME,
	STEPS,
};

/* Bytes of a step that is a number; 0 for the others. */
static const uint8_t number_bytes[STEPS] = {
	[TYPE] = 1,          [LENGTH] = 3,          [VERSION] = 2,        [SESSION_LEN] = 1,
	[CIPHERS_LEN] = 2,   [COMPRESSION_LEN] = 1, [EXTENSIONS_LEN] = 2, [EXTENSION_TYPE] = 2,
	[EXTENSION_LEN] = 2, [LIST_LEN] = 2,        [ENTRY_TYPE] = 1,     [ENTRY_LEN] = 2,
};

static void bad(struct hello *h)
{
	h->result = HELLO_BAD;
}

/* Begins a step of len bytes that are taken out of the container. */
static void take(struct hello *h, uint32_t *container, enum step step, uint32_t len)
{
	if (len > *container) {
		bad(h);
		return;
	}
	*container -= len;
	h->step = step;
	h->left = len;
	h->value = 0;
}

static void take_number(struct hello *h, uint32_t *container, enum step step)
{
	take(h, container, step, number_bytes[step]);
}

static void next_extension(struct hello *h)
{
	if (h->body_left)
		take_number(h, &h->body_left, EXTENSION_TYPE);
	else
		h->result = h->seen_sni ? HELLO_SNI : HELLO_NO_SNI;
}

static void type_done(struct hello *h)
{
	uint32_t length = 3; /* stands outside of the body */

	if (h->value != CLIENT_HELLO)
		bad(h);
	else
		take_number(h, &length, LENGTH);
}

static void length_done(struct hello *h)
{
	h->body_left = h->value;
	if (h->body_left > HELLO_MAX)
		bad(h);
	else
		take_number(h, &h->body_left, VERSION);
}

static void version_done(struct hello *h)
{
	if (h->value >> 8 != MAJOR)
		bad(h);
	else
		take(h, &h->body_left, RANDOM, 32);
}

static void random_done(struct hello *h)
{
	take_number(h, &h->body_left, SESSION_LEN);
}

static void session_len_done(struct hello *h)
{
	if (h->value > 32)
		bad(h);
	else
		take(h, &h->body_left, SESSION, h->value);
}

static void session_done(struct hello *h)
{
	take_number(h, &h->body_left, CIPHERS_LEN);
}

static void ciphers_len_done(struct hello *h)
{
	if (h->value < 2 || h->value % 2)
		bad(h);
	else
		take(h, &h->body_left, CIPHERS, h->value);
}

static void ciphers_done(struct hello *h)
{
	take_number(h, &h->body_left, COMPRESSION_LEN);
}

static void compression_len_done(struct hello *h)
{
	if (h->value < 1)
		bad(h);
	else
		take(h, &h->body_left, COMPRESSION, h->value);
}

/* Old clients send no extensions, and not even their length. */
static void compression_done(struct hello *h)
{
	if (h->body_left)
		take_number(h, &h->body_left, EXTENSIONS_LEN);
	else
		h->result = HELLO_NO_SNI;
}

/* The extensions are all the rest of the body: from here on body_left is theirs. */
static void extensions_len_done(struct hello *h)
{
	if (h->value != h->body_left)
		bad(h);
	else
		next_extension(h);
}

static void extension_type_done(struct hello *h)
{
	h->ext_type = h->value;
	take_number(h, &h->body_left, EXTENSION_LEN);
}

static void extension_len_done(struct hello *h)
{
	uint32_t len = h->value;

	if (h->ext_type != EXTENSION_SNI) {
		take(h, &h->body_left, EXTENSION, len);
	} else if (h->seen_sni || len > h->body_left) {
		bad(h);
	} else {
		h->body_left -= len;
		h->ext_left = len;
		take_number(h, &h->ext_left, LIST_LEN);
	}
}

static void list_len_done(struct hello *h)
{
	if (h->value != h->ext_left)
		bad(h);
	else
		take_number(h, &h->ext_left, ENTRY_TYPE);
}

static void entry_type_done(struct hello *h)
{
	if (h->value != SNI_HOST)
		bad(h);
	else
		take_number(h, &h->ext_left, ENTRY_LEN);
}

/* One name, which fills the list. */
static void entry_len_done(struct hello *h)
{
	if (h->value != h->ext_left || h->value > sizeof(h->name))
		bad(h);
	else
		take(h, &h->ext_left, NAME, h->value);
}

static void name_done(struct hello *h)
{
	h->seen_sni = true;
	if (!name_canonical(h->name, h->name_len, h->name))
		bad(h);
	else
		next_extension(h);
}

static void (*const done[STEPS])(struct hello *) = {
	[TYPE] = type_done,
	[LENGTH] = length_done,
	[VERSION] = version_done,
	[RANDOM] = random_done,
	[SESSION_LEN] = session_len_done,
	[SESSION] = session_done,
	[CIPHERS_LEN] = ciphers_len_done,
	[CIPHERS] = ciphers_done,
	[COMPRESSION_LEN] = compression_len_done,
	[COMPRESSION] = compression_done,
	[EXTENSIONS_LEN] = extensions_len_done,
	[EXTENSION_TYPE] = extension_type_done,
	[EXTENSION_LEN] = extension_len_done,
	[EXTENSION] = next_extension,
	[LIST_LEN] = list_len_done,
	[ENTRY_TYPE] = entry_type_done,
	[ENTRY_LEN] = entry_len_done,
	[NAME] = name_done,
};

/* Bytes of the handshake, as many as the present step still wants at most. */
static void feed_step(struct hello *h, const uint8_t *data, size_t len)
{
	h->left -= (uint32_t)len;
	if (h->step == NAME) {
		memcpy(h->name + h->name_len, data, len);
		h->name_len += len;
	} else if (number_bytes[h->step]) {
		for (size_t i = 0; i < len; i++)
			h->value = h->value << 8 | data[i];
	}
	while (!h->left && h->result == HELLO_MORE)
		done[h->step](h); /* a step of no bytes is done at once */
}

/*
 * One byte of a record's header. Every record type makes it TLS: some servers pass over an alert
 * before the hello, whose name must not slip by as "not TLS".
 */
static void feed_header(struct hello *h, uint8_t c)
{
	switch (h->header_len++) {
	case 0:
		if (h->fed == 0 && (c < 20 || c > 24))
			h->result = HELLO_NOT_TLS;
		else if (c != RECORD_HANDSHAKE)
			bad(h);
		break;
	case 1:
		if (c != MAJOR)
			bad(h);
		break;
	case 3:
		h->record_left = (uint32_t)c << 8;
		break;
	case 4:
		h->record_left |= c;
		if (!h->record_left || h->record_left > RECORD_MAX)
			bad(h);
		break;
	}
}

enum hello_result hello_feed(struct hello *h, const void *data, size_t len)
{
	const uint8_t *p = data;

	if (h->step == TYPE && !h->left)
		h->left = number_bytes[TYPE];
	while (len && h->result == HELLO_MORE) {
		size_t n = 1;

		if (h->fed >= HELLO_MAX) {
			bad(h);
			break;
		}
		if (h->header_len < RECORD_HEADER) {
			feed_header(h, *p);
		} else {
			n = MIN(MIN(len, (size_t)h->left), (size_t)h->record_left);
			n = MIN(n, HELLO_MAX - h->fed);
			h->record_left -= (uint32_t)n;
			if (!h->record_left)
				h->header_len = 0;
			feed_step(h, p, n);
		}
		h->fed += n;
		p += n;
		len -= n;
	}
	return h->result;
}

bool hello_matches(const struct hello *h, const char *pinned)
{
	return h->result == HELLO_SNI && !strcmp(h->name, pinned);
}
