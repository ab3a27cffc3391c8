/* SPDX-License-Identifier: MIT */
/*
 * The server name in a TLS ClientHello, from the first bytes of a connection in pieces of any size.
 *
 * Nothing is kept but a few counters and the name. Feed only bytes that were not fed before; a
 * caller that peeks passes what stands beyond hello.fed.
 */
#pragma once

#include "net/names.h"

enum { HELLO_MAX = 65536 }; /* bytes on the wire; more is HELLO_BAD */

enum hello_result {
	HELLO_MORE,
	HELLO_NOT_TLS, /* the first byte says so */
	HELLO_NO_SNI,  /* a whole hello without a name */
	HELLO_SNI,     /* a whole hello; hello.name is canonical */
	HELLO_BAD,     /* TLS that is broken, doubtful (two names, odd bytes) or too long */
};

struct hello {
	enum hello_result result; /* final once it is not HELLO_MORE */
	size_t fed;               /* bytes taken so far */
	char name[NAME_SIZE];     /* for HELLO_SNI */
	/* The rest is hello.c's. */
	unsigned step, header_len; /* header_len: bytes of the present record's header */
	uint32_t value;            /* the number being read */
	uint32_t left;             /* bytes of the present step */
	uint32_t record_left, body_left, ext_left; /* of what is around it */
	unsigned ext_type;
	bool seen_sni;
	size_t name_len;
};

/* A zeroed struct hello is ready. Returns hello->result. */
enum hello_result hello_feed(struct hello *hello, const void *data, size_t len);
/* A whole hello that names this host and no other. 'pinned' is canonical. */
bool hello_matches(const struct hello *hello, const char *pinned);
