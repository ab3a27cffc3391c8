/* SPDX-License-Identifier: MIT */
/*
 * Internet addresses: one form for both families, ranges, and which addresses a name must not lead
 * to (loopback, private networks, cloud metadata, the host itself ...).
 *
 * IPv4 is kept as ::ffff:a.b.c.d. So an IPv4 address that arrives in a mapped IPv6 socket address
 * is the same value as the plain one, and no check can be passed by around-writing.
 */
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include "base/util.h"

#define ADDRESS_TEXT 46 /* room for any address and its NUL */
#define RANGE_TEXT 50   /* the same with "/128" */

struct address {
	uint8_t b[16]; /* network order */
};

/* All addresses of one family that share their first bits. An IPv4 range has bits >= 96; an IPv6
 * range, "::/0" included, holds no IPv4 address. */
struct address_range {
	struct address base; /* bits beyond the prefix are zero */
	unsigned bits;       /* of the 128 */
};

bool address_is_v4(const struct address *addr);
bool address_equal(const struct address *a, const struct address *b);
struct address address_v4(uint32_t host_order);
uint32_t address_to_v4(const struct address *addr); /* host order; only where address_is_v4() */

/* Exactly four decimal numbers, or IPv6 without brackets and zone. No shorthands such as "127.1". */
bool address_parse(const char *text, struct address *ret);
/* The canonical text; IPv4 in dots. Returns buf. */
const char *address_print(const struct address *addr, char buf[ADDRESS_TEXT]);

/* As an AF_INET6 socket has it: IPv4 is mapped. */
struct address address_from_in6(const struct in6_addr *in6);
/* From AF_INET and AF_INET6, else false. ret_port may be NULL. */
bool address_from_sockaddr(const struct sockaddr *sa, struct address *ret, uint16_t *ret_port);
/* AF_INET for IPv4, else AF_INET6; returns the length. */
socklen_t address_to_sockaddr(const struct address *addr, uint16_t port,
			      struct sockaddr_storage *ret);

/* "10.0.0.0/8", "fd00::/8", or one address. Bits beyond the prefix must be zero: 'ret' then holds
 * the range that was probably meant, and the result is RANGE_LOOSE. */
enum range_parse { RANGE_OK, RANGE_BAD, RANGE_LOOSE };
enum range_parse range_parse(const char *text, struct address_range *ret);
/* One address without "/bits". Returns buf. */
const char *range_print(const struct address_range *range, char buf[RANGE_TEXT]);
bool range_has(const struct address_range *range, const struct address *addr);

/* What an address is, as far as it matters for dialling it. */
enum address_class {
	ADDRESS_PUBLIC,
	ADDRESS_UNSPECIFIED, /* 0.0.0.0/8, :: (which the kernel takes for loopback) */
	ADDRESS_LOOPBACK,
	ADDRESS_PRIVATE, /* RFC 1918, shared (100.64/10), unique local */
	ADDRESS_LINK_LOCAL,
	ADDRESS_METADATA, /* cloud services that hand out the machine's credentials */
	ADDRESS_MULTICAST,
	ADDRESS_RESERVED, /* broadcast, benchmarking (our own synthetic ones), never assigned */
	ADDRESS_OWN,      /* the host's own */
	ADDRESS_DENIED,   /* in guard->denied */
};

/* Which classes a name may not resolve to. Zeroed, it is the strict set without the host's own. */
struct address_guard {
	enum { GUARD_STRICT, GUARD_SRT } kind; /* GUARD_SRT leaves private networks open */
	const struct address_range *denied;    /* besides */
	size_t n_denied;
	/* An address that stands for one which we cannot see, so that it may be a denied one; may be NULL. */
	bool (*veiled)(const struct address *addr);
	bool (*own)(void *ctx, const struct address *addr); /* is it the host's? may be NULL */
	void *ctx;
};

/*
 * ADDRESS_PUBLIC, or the class for which the guard refuses addr. IPv4 inside of NAT64, 6to4,
 * translated and compatible IPv6 addresses is judged as IPv4. ret_bits, which may be NULL, is the
 * prefix of the special range that addr is in (128 for the host's own): a rule that is as narrow
 * was written for such addresses.
 */
enum address_class address_guarded(const struct address_guard *guard, const struct address *addr,
				   unsigned *ret_bits);

/* The IPv4 address that an IPv6 address stands for; false when there is none. */
bool address_embedded(const struct address *addr, struct address *ret);
