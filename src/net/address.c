/* SPDX-License-Identifier: MIT */
/*
 * Internet addresses, ranges, and the classes that a name must not lead to.
 *
 * Theory of operation: a name is allowed because of who it belongs to, and its owner decides where
 * it points. So what a resolver returns is hostile: an allowed name that leads to 127.0.0.1 or to
 * a metadata service would turn the relay, which dials from the host's network, into a way in.
 * Every address is judged right before it is dialled, in one form (IPv4 mapped into IPv6), and when
 * it carries an IPv4 address for a translator, that one is judged too.
 */
#include "net/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

static const uint8_t v4_prefix[12] = { [10] = 0xff, [11] = 0xff };

bool address_is_v4(const struct address *addr)
{
	return !memcmp(addr->b, v4_prefix, sizeof(v4_prefix));
}

bool address_equal(const struct address *a, const struct address *b)
{
	return !memcmp(a->b, b->b, sizeof(a->b));
}

struct address address_v4(uint32_t host_order)
{
	struct address addr;
	uint32_t n = htonl(host_order);

	memcpy(addr.b, v4_prefix, sizeof(v4_prefix));
	memcpy(addr.b + 12, &n, sizeof(n));
	return addr;
}

uint32_t address_to_v4(const struct address *addr)
{
	uint32_t n;

	memcpy(&n, addr->b + 12, sizeof(n));
	return ntohl(n);
}

bool address_parse(const char *text, struct address *ret)
{
	struct in6_addr v6;
	struct in_addr v4;

	if (inet_pton(AF_INET, text, &v4) == 1)
		*ret = address_v4(ntohl(v4.s_addr));
	else if (inet_pton(AF_INET6, text, &v6) == 1)
		memcpy(ret->b, v6.s6_addr, sizeof(ret->b));
	else
		return false;
	return true;
}

const char *address_print(const struct address *addr, char buf[ADDRESS_TEXT])
{
	bool v4 = address_is_v4(addr);

	/* Cannot fail: the family is known and the room is enough. */
	if (!inet_ntop(v4 ? AF_INET : AF_INET6, addr->b + (v4 ? 12 : 0), buf, ADDRESS_TEXT))
		buf[0] = '\0';
	return buf;
}

struct address address_from_in6(const struct in6_addr *in6)
{
	struct address address;

	memcpy(address.b, in6->s6_addr, sizeof(address.b));
	return address;
}

bool address_from_sockaddr(const struct sockaddr *sa, struct address *ret, uint16_t *ret_port)
{
	struct sockaddr_in6 in6;
	struct sockaddr_in in;
	uint16_t port;

	switch (sa->sa_family) {
	case AF_INET:
		memcpy(&in, sa, sizeof(in));
		*ret = address_v4(ntohl(in.sin_addr.s_addr));
		port = in.sin_port;
		break;
	case AF_INET6:
		memcpy(&in6, sa, sizeof(in6));
		memcpy(ret->b, in6.sin6_addr.s6_addr, sizeof(ret->b));
		port = in6.sin6_port;
		break;
	default:
		return false;
	}
	if (ret_port)
		*ret_port = ntohs(port);
	return true;
}

socklen_t address_to_sockaddr(const struct address *addr, uint16_t port,
			      struct sockaddr_storage *ret)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };

	memset(ret, 0, sizeof(*ret));
	if (address_is_v4(addr)) {
		in.sin_addr.s_addr = htonl(address_to_v4(addr));
		memcpy(ret, &in, sizeof(in));
		return sizeof(in);
	}
	memcpy(in6.sin6_addr.s6_addr, addr->b, sizeof(addr->b));
	memcpy(ret, &in6, sizeof(in6));
	return sizeof(in6);
}

/* The address with all but its first bits cleared. */
static struct address address_masked(const struct address *addr, unsigned bits)
{
	struct address ret = *addr;

	for (unsigned i = 0; i < sizeof(ret.b); i++) {
		if (bits >= 8 * (i + 1))
			continue;
		ret.b[i] &= bits <= 8 * i ? 0 : (uint8_t)(0xff << (8 * (i + 1) - bits));
	}
	return ret;
}

/* "0" to "128", without leading zeros. */
static bool bits_parse(const char *text, unsigned max, unsigned *ret)
{
	size_t digits = strspn(text, "0123456789");
	unsigned n = 0;

	if (digits < 1 || digits > 3 || text[digits] || (text[0] == '0' && digits > 1))
		return false;
	for (size_t i = 0; i < digits; i++)
		n = n * 10 + (unsigned)(text[i] - '0');
	*ret = n;
	return n <= max;
}

enum range_parse range_parse(const char *text, struct address_range *ret)
{
	const char *slash = strchr(text, '/');
	char part[ADDRESS_TEXT];
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	struct address addr;
	unsigned bits = 128;

	if (len >= sizeof(part))
		return RANGE_BAD;
	memcpy(part, text, len);
	part[len] = '\0';
	if (!address_parse(part, &addr))
		return RANGE_BAD;
	if (slash) {
		/* What decides is how it is written: ::ffff:0:0/96 counts its bits from the left. */
		bool dots = !strchr(part, ':');

		if (!bits_parse(slash + 1, dots ? 32 : 128, &bits))
			return RANGE_BAD;
		bits += dots ? 96 : 0;
	}
	ret->base = address_masked(&addr, bits);
	ret->bits = bits;
	return address_equal(&ret->base, &addr) ? RANGE_OK : RANGE_LOOSE;
}

const char *range_print(const struct address_range *range, char buf[RANGE_TEXT])
{
	unsigned first = address_is_v4(&range->base) ? 96 : 0;
	char text[ADDRESS_TEXT];

	address_print(&range->base, text);
	if (range->bits == 128)
		(void)snprintf(buf, RANGE_TEXT, "%s", text);
	else
		(void)snprintf(buf, RANGE_TEXT, "%s/%u", text, range->bits - first);
	return buf;
}

bool range_has(const struct address_range *range, const struct address *addr)
{
	struct address masked = address_masked(addr, range->bits);

	return address_is_v4(&range->base) == address_is_v4(addr) &&
	       address_equal(&masked, &range->base);
}

#define V4(a, b, c, d, n)                                       \
	{                                                       \
		{ { [10] = 0xff, 0xff, a, b, c, d } }, 96 + (n) \
	}
#define HALF(x) (uint8_t)((x) >> 8), (uint8_t)(x)
#define V6(a, b, c, d, e, f, g, h, n)                                                             \
	{                                                                                         \
		{ { HALF(a), HALF(b), HALF(c), HALF(d), HALF(e), HALF(f), HALF(g), HALF(h) } }, n \
	}

/* The first that fits counts. Those for both guards, and those that only the strict one refuses. */
static const struct special {
	struct address_range range;
	enum address_class class;
	bool strict_only;
} specials[] = {
	{ V4(169, 254, 169, 254, 32), ADDRESS_METADATA }, /* nearly every cloud */
	{ V4(169, 254, 170, 2, 32), ADDRESS_METADATA },   /* credentials of containers */
	{ V4(169, 254, 170, 23, 32), ADDRESS_METADATA },
	{ V4(100, 100, 100, 200, 32), ADDRESS_METADATA },
	{ V4(168, 63, 129, 16, 32), ADDRESS_METADATA },
	{ V4(192, 0, 0, 192, 32), ADDRESS_METADATA },
	{ V6(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0, 32), ADDRESS_METADATA },
	{ V6(0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x0254, 128), ADDRESS_METADATA },
	{ V6(0xfd00, 0x00c1, 0, 0, 0, 0, 0xa9fe, 0xa9fe, 128), ADDRESS_METADATA },
	{ V6(0xfd00, 0x0042, 0, 0, 0, 0, 0, 0x0042, 128), ADDRESS_METADATA },
	{ V6(0xfd00, 0xa9fe, 0xa9fe, 0, 0, 0, 0, 1, 128), ADDRESS_METADATA },
	{ V6(0xfd00, 0x0100, 0, 0, 0, 0, 0x0100, 0x0200, 128), ADDRESS_METADATA },
	{ V4(0, 0, 0, 0, 8), ADDRESS_UNSPECIFIED },
	{ V6(0, 0, 0, 0, 0, 0, 0, 0, 128), ADDRESS_UNSPECIFIED },
	{ V4(127, 0, 0, 0, 8), ADDRESS_LOOPBACK },
	{ V6(0, 0, 0, 0, 0, 0, 0, 1, 128), ADDRESS_LOOPBACK },
	{ V4(169, 254, 0, 0, 16), ADDRESS_LINK_LOCAL },
	{ V6(0xfe80, 0, 0, 0, 0, 0, 0, 0, 10), ADDRESS_LINK_LOCAL },
	{ V4(224, 0, 0, 0, 4), ADDRESS_MULTICAST },
	{ V6(0xff00, 0, 0, 0, 0, 0, 0, 0, 8), ADDRESS_MULTICAST },
	{ V4(255, 255, 255, 255, 32), ADDRESS_RESERVED }, /* broadcast */
	{ V4(10, 0, 0, 0, 8), ADDRESS_PRIVATE, true },
	{ V4(100, 64, 0, 0, 10), ADDRESS_PRIVATE, true },
	{ V4(172, 16, 0, 0, 12), ADDRESS_PRIVATE, true },
	{ V4(192, 168, 0, 0, 16), ADDRESS_PRIVATE, true },
	{ V6(0xfc00, 0, 0, 0, 0, 0, 0, 0, 7), ADDRESS_PRIVATE, true },
	{ V6(0xfec0, 0, 0, 0, 0, 0, 0, 0, 10), ADDRESS_PRIVATE, true },      /* site-local */
	{ V6(0x0064, 0xff9b, 1, 0, 0, 0, 0, 0, 48), ADDRESS_PRIVATE, true }, /* a site's NAT64 */
	{ V4(192, 0, 0, 0, 24), ADDRESS_RESERVED, true },
	{ V4(198, 18, 0, 0, 15), ADDRESS_RESERVED, true }, /* the synthetic ones among them */
	{ V4(240, 0, 0, 0, 4), ADDRESS_RESERVED, true },
	{ V6(0, 0, 0, 0, 0, 0, 0, 0, 96), ADDRESS_RESERVED, true },
	{ V6(0x2001, 0, 0, 0, 0, 0, 0, 0, 32), ADDRESS_RESERVED,
	  true }, /* Teredo: two IPv4 in it */
};

/* Where translators and tunnels keep an IPv4 address. Plain mapped addresses are IPv4 already. A site's own NAT64 has it
 * at the end, or behind a prefix of 48 bits with nothing at the end. */
static const struct {
	struct address_range range;
	uint8_t at[4];
} carriers[] = {
	{ V6(0x0064, 0xff9b, 0, 0, 0, 0, 0, 0, 96), { 12, 13, 14, 15 } }, /* NAT64 */
	{ V6(0x0064, 0xff9b, 1, 0, 0, 0, 0, 0, 48), { 12, 13, 14, 15 } },
	{ V6(0x0064, 0xff9b, 1, 0, 0, 0, 0, 0, 48), { 6, 7, 9, 10 } },
	{ V6(0x2002, 0, 0, 0, 0, 0, 0, 0, 16), { 2, 3, 4, 5 } },     /* 6to4 */
	{ V6(0, 0, 0, 0, 0xffff, 0, 0, 0, 96), { 12, 13, 14, 15 } }, /* translated */
	{ V6(0, 0, 0, 0, 0, 0, 0, 0, 96), { 12, 13, 14, 15 } },      /* compatible */
};

bool address_embedded(const struct address *addr, struct address *ret)
{
	uint32_t n = 0;
	bool found = false;

	/* The next has a word where there are only zeros. */
	for (size_t i = 0; !n && i < ARRAY_LEN(carriers); i++) {
		if (!range_has(&carriers[i].range, addr))
			continue;
		for (size_t k = 0; k < ARRAY_LEN(carriers[i].at); k++)
			n = n << 8 | addr->b[carriers[i].at[k]];
		*ret = address_v4(n);
		found = true;
	}
	return found;
}

static enum address_class class_in_table(const struct address_guard *guard,
					 const struct address *addr, unsigned *ret_bits)
{
	for (size_t i = 0; i < ARRAY_LEN(specials); i++) {
		const struct special *s = &specials[i];

		if ((s->strict_only && guard->kind != GUARD_STRICT) || !range_has(&s->range, addr))
			continue;
		*ret_bits = s->range.bits;
		return s->class;
	}
	return ADDRESS_PUBLIC;
}

static enum address_class class_of_one(const struct address_guard *guard,
				       const struct address *addr, unsigned *ret_bits)
{
	enum address_class class;

	*ret_bits = 128;
	for (size_t i = 0; i < guard->n_denied; i++) {
		if (range_has(&guard->denied[i], addr) || (guard->veiled && guard->veiled(addr)))
			return ADDRESS_DENIED;
	}
	class = class_in_table(guard, addr, ret_bits);
	switch (class) {
	case ADDRESS_UNSPECIFIED:
	case ADDRESS_LOOPBACK:
	case ADDRESS_METADATA:
	case ADDRESS_MULTICAST:
		return class; /* says more than "the host's own" */
	default:
		break;
	}
	if (guard->own && guard->own(guard->ctx, addr)) {
		*ret_bits = 128;
		return ADDRESS_OWN;
	}
	return class;
}

enum address_class address_guarded(const struct address_guard *guard, const struct address *addr,
				   unsigned *ret_bits)
{
	enum address_class class;
	struct address inner;
	unsigned bits;

	class = class_of_one(guard, addr, &bits);
	if (class == ADDRESS_PUBLIC && address_embedded(addr, &inner))
		class = class_of_one(guard, &inner, &bits);
	if (ret_bits)
		*ret_bits = class == ADDRESS_PUBLIC ? 0 : bits;
	return class;
}
