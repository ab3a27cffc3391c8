/* SPDX-License-Identifier: MIT */
/*
 * The DNS responder's head: a query in, an answer out, no upstream. Whatever server the sandbox
 * asks, this one answers; nothing leaks through a lookup, because none is made.
 *
 * Allowed names get their synthetic pair, other types of them no data; all else does not exist.
 */
#pragma once

#include "net/policy.h"

enum {
	DNS_QUERY_MAX = 4096, /* a longer query is ignored */
	DNS_ANSWER_MAX = 512, /* so no answer is ever cut short, on UDP without EDNS neither */
	DNS_TTL = 60,
};

struct dns {
	const struct policy *policy;
	struct names *names;
	bool no_ipv6; /* AAAA: no data */
	bool explain; /* denied names get an address too, where the reason is told */
	/* Where host.wrapix.internal and host.containers.internal are; NULL: no such record, and
	 * with both NULL no such name. */
	const struct address *host_v4, *host_v6;
};

struct dns_answer {
	size_t len;  /* 0: say nothing */
	bool report; /* worth an event; then the two below are set */
	struct verdict verdict;
	/* What was asked for, to be shown: canonical, or with '?' for bytes no name has. The host
	 * alone for a service ("_http._tcp.host"). */
	char name[NAME_SIZE];
};

/* The same on UDP and TCP. */
void dns_answer(const struct dns *dns, const uint8_t *query, size_t len,
		uint8_t buf[DNS_ANSWER_MAX], struct dns_answer *ret);

/*
 * The first query in the bytes of a TCP stream: its length (it stands at buf + 2, and 2 + length
 * bytes are used up), 0 when it is not there whole, -EMSGSIZE when it is empty or longer than
 * DNS_QUERY_MAX and the stream is of no more use.
 */
int dns_tcp_next(const uint8_t *buf, size_t len);
/* The two bytes that stand before an answer on TCP. */
void dns_tcp_prefix(size_t len, uint8_t ret[2]);
