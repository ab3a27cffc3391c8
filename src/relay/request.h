/* SPDX-License-Identifier: MIT */
/*
 * One HTTP/1.1 request from inside, judged and written anew for the one place that a brokered
 * credential is for. Pure. docs/credentials.md has the rules.
 */
#pragma once

#include "base/util.h"
#include "keys/wire.h"

#define REQUEST_HEAD_MAX ((size_t)64 << 10)

/* What this relay is for. */
struct relay_rules {
	const char *host;
	uint16_t port;
	const char *prefix;      /* of the path; begins with '/' */
	const char *methods;     /* words, each with a space after it */
	const char *header;      /* that carries the credential */
	const char *scheme;      /* before it; may be empty */
	const char *placeholder; /* what the sandbox has in its place */
	int fresh;               /* seconds for which a value is not asked for again */
};

/* The bytes after a head. */
struct relay_body {
	bool chunked;
	uint64_t left; /* of the length, or of the chunk */
	enum {
		BODY_DATA,
		BODY_SIZE,
		BODY_SIZE_LF,
		BODY_AFTER,
		BODY_AFTER_LF,
		BODY_END,
		BODY_END_LF
	} at; /* chunked */
	unsigned digits;
	bool done;
};

struct relay_request {
	size_t len; /* of the head, as it came */
	int status; /* refused with this HTTP status; 0: it goes on */
	const char *why;
	struct relay_body body;
};

/*
 * Looks at the n bytes that have come. False: the head is not complete yet. Else *ret says what it is,
 * and for one that goes on the new head, with the credential in it, was added to out.
 */
bool relay_request_read(const struct relay_rules *rules, const char *bytes, size_t n,
			struct blob value, struct wire_out *out, struct relay_request *ret);

/* How many of the n bytes belong to the body; sets done. -1: they are no body. */
ssize_t relay_body_take(struct relay_body *body, const char *bytes, size_t n);
