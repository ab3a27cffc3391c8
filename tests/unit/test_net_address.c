/* SPDX-License-Identifier: MIT */
/* Addresses: one form, ranges, and the classes that a name must not lead to. */
#include "net/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "lib/tap.h"

static struct address addr_of(const char *text)
{
	struct address addr = { 0 };

	if (!address_parse(text, &addr))
		ok(false, "the test's own address %s", text);
	return addr;
}

static void test_parse(void)
{
	static const struct {
		const char *text, *print; /* NULL: refused */
	} cases[] = {
		{ "0.0.0.0", "0.0.0.0" },
		{ "192.0.2.255", "192.0.2.255" },
		{ "::", "::" },
		{ "::1", "::1" },
		{ "2001:DB8:0:0:0:0:0:1", "2001:db8::1" },
		{ "2001:db8::0001:0", "2001:db8::1:0" },
		{ "::ffff:192.0.2.1", "192.0.2.1" },
		{ "::ffff:c000:0201", "192.0.2.1" },
		{ "0:0:0:0:0:ffff:192.0.2.1", "192.0.2.1" },
		{ "64:ff9b::192.0.2.1", "64:ff9b::c000:201" },
		{ "", NULL },
		{ "1", NULL },
		{ "127.1", NULL },
		{ "0x7f000001", NULL },
		{ "0177.0.0.1", NULL },
		{ "01.2.3.4", NULL },
		{ "1.2.3.4.5", NULL },
		{ "1.2.3.256", NULL },
		{ "1.2.3.4 ", NULL },
		{ " 1.2.3.4", NULL },
		{ "1.2.3.4.", NULL },
		{ "+1.2.3.4", NULL },
		{ "[::1]", NULL },
		{ "::1%lo", NULL },
		{ ":::", NULL },
		{ "::1::", NULL },
		{ "12345::", NULL },
		{ "1:2:3:4:5:6:7:8:9", NULL },
		{ "1:2:3:4:5:6:7", NULL },
		{ "::ffff:1.2.3", NULL },
		{ "localhost", NULL },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct address addr;
		char buf[ADDRESS_TEXT];
		bool parsed = address_parse(cases[i].text, &addr);

		is_str(parsed ? address_print(&addr, buf) : NULL, cases[i].print, "'%s'",
		       cases[i].text);
	}
}

static void test_sockaddr(void)
{
	struct sockaddr_storage ss;
	struct address addr, again;
	struct sockaddr_in6 mapped = { .sin6_family = AF_INET6, .sin6_port = htons(443) };
	struct sockaddr unix_family = { .sa_family = AF_UNIX };
	uint16_t port = 0;

	addr = addr_of("192.0.2.1");
	is_int(address_to_sockaddr(&addr, 80, &ss), sizeof(struct sockaddr_in), "an IPv4 address");
	is_int(ss.ss_family, AF_INET, "in its own family");
	ok(address_from_sockaddr((struct sockaddr *)&ss, &again, &port) && port == 80 &&
		   address_equal(&addr, &again),
	   "and back");
	ok(inet_pton(AF_INET6, "::ffff:192.0.2.1", &mapped.sin6_addr) == 1 &&
		   address_from_sockaddr((struct sockaddr *)&mapped, &again, &port) &&
		   port == 443 && address_equal(&addr, &again) && address_is_v4(&again),
	   "mapped into an IPv6 socket address it is the same address");
	addr = addr_of("2001:db8::1");
	is_int(address_to_sockaddr(&addr, 65535, &ss), sizeof(struct sockaddr_in6),
	       "an IPv6 address");
	ok(address_from_sockaddr((struct sockaddr *)&ss, &again, NULL) &&
		   address_equal(&addr, &again) && !address_is_v4(&again),
	   "and back");
	ok(!address_from_sockaddr(&unix_family, &again, &port), "no other family");
}

static void test_ranges(void)
{
	static const struct {
		const char *text;
		enum range_parse want;
		const char *print;
	} cases[] = {
		{ "10.0.0.0/8", RANGE_OK, "10.0.0.0/8" },
		{ "0.0.0.0/0", RANGE_OK, "0.0.0.0/0" },
		{ "192.0.2.1", RANGE_OK, "192.0.2.1" },
		{ "192.0.2.1/32", RANGE_OK, "192.0.2.1" },
		{ "::/0", RANGE_OK, "::/0" },
		{ "fd00::/8", RANGE_OK, "fd00::/8" },
		{ "::1", RANGE_OK, "::1" },
		{ "::ffff:0:0/96", RANGE_OK, "0.0.0.0/0" },
		{ "::ffff:10.0.0.0/104", RANGE_OK, "10.0.0.0/8" },
		{ "10.1.0.0/8", RANGE_LOOSE, "10.0.0.0/8" },
		{ "10.0.0.1/31", RANGE_LOOSE, "10.0.0.0/31" },
		{ "fd00::1/64", RANGE_LOOSE, "fd00::/64" },
		{ "10.0.0.0/33", RANGE_BAD },
		{ "10.0.0.0/", RANGE_BAD },
		{ "10.0.0.0/08", RANGE_BAD },
		{ "10.0.0.0/-1", RANGE_BAD },
		{ "10.0.0.0/8/8", RANGE_BAD },
		{ "10.0.0.0/4294967304", RANGE_BAD },
		{ "10.0.0.0/255.0.0.0", RANGE_BAD },
		{ "10/8", RANGE_BAD },
		{ "fd00::/129", RANGE_BAD },
		{ "/8", RANGE_BAD },
		{ "", RANGE_BAD },
		{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/8",
		  RANGE_BAD },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct address_range range;
		char buf[RANGE_TEXT];
		enum range_parse got = range_parse(cases[i].text, &range);

		is_int(got, cases[i].want, "range '%s'", cases[i].text);
		if (got != RANGE_BAD)
			is_str(range_print(&range, buf), cases[i].print, "is %s", cases[i].print);
	}
}

static void test_range_has(void)
{
	static const struct {
		const char *range, *addr;
		bool want;
	} cases[] = {
		{ "10.0.0.0/8", "10.0.0.0", true },
		{ "10.0.0.0/8", "10.255.255.255", true },
		{ "10.0.0.0/8", "11.0.0.0", false },
		{ "10.0.0.0/8", "9.255.255.255", false },
		{ "192.0.2.128/25", "192.0.2.127", false },
		{ "192.0.2.128/25", "192.0.2.128", true },
		{ "172.16.0.0/12", "172.31.255.255", true },
		{ "172.16.0.0/12", "172.32.0.0", false },
		{ "0.0.0.0/0", "255.255.255.255", true },
		{ "0.0.0.0/0", "::1", false },
		{ "::/0", "::1", true },
		{ "::/0", "192.0.2.1", false },
		{ "::/0", "::ffff:192.0.2.1", false },
		{ "10.0.0.0/8", "::ffff:10.1.2.3", true },
		{ "fe80::/10", "febf:ffff::", true },
		{ "fe80::/10", "fec0::", false },
		{ "2001:db8::1", "2001:db8::1", true },
		{ "2001:db8::1", "2001:db8::2", false },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct address addr = addr_of(cases[i].addr);
		struct address_range range;

		ok(range_parse(cases[i].range, &range) == RANGE_OK &&
			   range_has(&range, &addr) == cases[i].want,
		   "%s %s %s", cases[i].addr, cases[i].want ? "in" : "not in", cases[i].range);
	}
}

static void test_classes(void)
{
	static const struct {
		const char *addr;
		enum address_class strict, srt;
	} cases[] = {
		{ "8.8.8.8", ADDRESS_PUBLIC, ADDRESS_PUBLIC },
		{ "2001:4860:4860::8888", ADDRESS_PUBLIC, ADDRESS_PUBLIC },
		{ "0.0.0.0", ADDRESS_UNSPECIFIED, ADDRESS_UNSPECIFIED },
		{ "0.255.255.255", ADDRESS_UNSPECIFIED, ADDRESS_UNSPECIFIED },
		{ "1.0.0.0", ADDRESS_PUBLIC, ADDRESS_PUBLIC },
		{ "::", ADDRESS_UNSPECIFIED, ADDRESS_UNSPECIFIED },
		{ "::1", ADDRESS_LOOPBACK, ADDRESS_LOOPBACK },
		{ "127.0.0.1", ADDRESS_LOOPBACK, ADDRESS_LOOPBACK },
		{ "127.255.255.255", ADDRESS_LOOPBACK, ADDRESS_LOOPBACK },
		{ "126.255.255.255", ADDRESS_PUBLIC, ADDRESS_PUBLIC },
		{ "128.0.0.0", ADDRESS_PUBLIC, ADDRESS_PUBLIC },
		{ "10.0.0.1", ADDRESS_PRIVATE, ADDRESS_PUBLIC },
		{ "11.0.0.0", ADDRESS_PUBLIC, ADDRESS_PUBLIC },
		{ "100.63.255.255", ADDRESS_PUBLIC, ADDRESS_PUBLIC },
		{ "100.64.0.0", ADDRESS_PRIVATE, ADDRESS_PUBLIC },
		{ "100.127.255.255", ADDRESS_PRIVATE, ADDRESS_PUBLIC },
		{ "100.128.0.0", ADDRESS_PUBLIC, ADDRESS_PUBLIC },
		{ "172.15.255.255", ADDRESS_PUBLIC, ADDRESS_PUBLIC },
		{ "172.16.0.0", ADDRESS_PRIVATE, ADDRESS_PUBLIC },
		{ "172.31.255.255", ADDRESS_PRIVATE, ADDRESS_PUBLIC },
		{ "172.32.0.0", ADDRESS_PUBLIC, ADDRESS_PUBLIC },
		{ "192.168.255.255", ADDRESS_PRIVATE, ADDRESS_PUBLIC },
		{ "192.169.0.0", ADDRESS_PUBLIC, ADDRESS_PUBLIC },
		{ "169.254.0.1", ADDRESS_LINK_LOCAL, ADDRESS_LINK_LOCAL },
		{ "169.253.255.255", ADDRESS_PUBLIC, ADDRESS_PUBLIC },
		{ "169.254.169.254", ADDRESS_METADATA, ADDRESS_METADATA },
		{ "169.254.170.2", ADDRESS_METADATA, ADDRESS_METADATA },
		{ "169.254.170.23", ADDRESS_METADATA, ADDRESS_METADATA },
		{ "100.100.100.200", ADDRESS_METADATA, ADDRESS_METADATA },
		{ "168.63.129.16", ADDRESS_METADATA, ADDRESS_METADATA },
		{ "168.63.129.17", ADDRESS_PUBLIC, ADDRESS_PUBLIC },
		{ "192.0.0.192", ADDRESS_METADATA, ADDRESS_METADATA },
		{ "fd00:ec2::254", ADDRESS_METADATA, ADDRESS_METADATA },
		{ "fd20:ce::254", ADDRESS_METADATA, ADDRESS_METADATA },
		{ "fd00:c1::a9fe:a9fe", ADDRESS_METADATA, ADDRESS_METADATA },
		{ "fd00:42::42", ADDRESS_METADATA, ADDRESS_METADATA },
		{ "fd00:a9fe:a9fe::1", ADDRESS_METADATA, ADDRESS_METADATA },
		{ "fd00:100::100:200", ADDRESS_METADATA, ADDRESS_METADATA },
		{ "192.0.0.1", ADDRESS_RESERVED, ADDRESS_PUBLIC },
		{ "192.0.1.0", ADDRESS_PUBLIC, ADDRESS_PUBLIC },
		{ "198.17.255.255", ADDRESS_PUBLIC, ADDRESS_PUBLIC },
		{ "198.18.1.0", ADDRESS_RESERVED, ADDRESS_PUBLIC },
		{ "198.19.255.255", ADDRESS_RESERVED, ADDRESS_PUBLIC },
		{ "198.20.0.0", ADDRESS_PUBLIC, ADDRESS_PUBLIC },
		{ "223.255.255.255", ADDRESS_PUBLIC, ADDRESS_PUBLIC },
		{ "224.0.0.1", ADDRESS_MULTICAST, ADDRESS_MULTICAST },
		{ "239.255.255.255", ADDRESS_MULTICAST, ADDRESS_MULTICAST },
		{ "240.0.0.1", ADDRESS_RESERVED, ADDRESS_PUBLIC },
		{ "255.255.255.255", ADDRESS_RESERVED, ADDRESS_RESERVED },
		{ "fbff::1", ADDRESS_PUBLIC, ADDRESS_PUBLIC },
		{ "fc00::1", ADDRESS_PRIVATE, ADDRESS_PUBLIC },
		{ "fdff::1", ADDRESS_PRIVATE, ADDRESS_PUBLIC },
		{ "fe00::1", ADDRESS_PUBLIC, ADDRESS_PUBLIC },
		{ "fe80::1", ADDRESS_LINK_LOCAL, ADDRESS_LINK_LOCAL },
		{ "febf::1", ADDRESS_LINK_LOCAL, ADDRESS_LINK_LOCAL },
		{ "fec0::1", ADDRESS_PRIVATE, ADDRESS_PUBLIC },
		{ "ff02::1", ADDRESS_MULTICAST, ADDRESS_MULTICAST },
		{ "2001::1", ADDRESS_RESERVED, ADDRESS_PUBLIC },
		{ "2001:1::1", ADDRESS_PUBLIC, ADDRESS_PUBLIC },
		/* IPv4 in other clothes. */
		{ "::ffff:127.0.0.1", ADDRESS_LOOPBACK, ADDRESS_LOOPBACK },
		{ "::ffff:10.0.0.1", ADDRESS_PRIVATE, ADDRESS_PUBLIC },
		{ "::ffff:8.8.8.8", ADDRESS_PUBLIC, ADDRESS_PUBLIC },
		{ "::127.0.0.1", ADDRESS_RESERVED, ADDRESS_LOOPBACK },
		{ "::169.254.169.254", ADDRESS_RESERVED, ADDRESS_METADATA },
		{ "::8.8.8.8", ADDRESS_RESERVED, ADDRESS_PUBLIC },
		{ "::ffff:0:127.0.0.1", ADDRESS_LOOPBACK, ADDRESS_LOOPBACK },
		{ "::ffff:0:8.8.8.8", ADDRESS_PUBLIC, ADDRESS_PUBLIC },
		{ "64:ff9b::127.0.0.1", ADDRESS_LOOPBACK, ADDRESS_LOOPBACK },
		{ "64:ff9b::10.0.0.1", ADDRESS_PRIVATE, ADDRESS_PUBLIC },
		{ "64:ff9b::169.254.169.254", ADDRESS_METADATA, ADDRESS_METADATA },
		{ "64:ff9b::8.8.8.8", ADDRESS_PUBLIC, ADDRESS_PUBLIC },
		{ "64:ff9b:1::8.8.8.8", ADDRESS_PRIVATE, ADDRESS_PUBLIC },
		{ "64:ff9b:1::127.0.0.1", ADDRESS_PRIVATE, ADDRESS_LOOPBACK },
		{ "64:ff9b:1:2:3::169.254.169.254", ADDRESS_PRIVATE, ADDRESS_METADATA },
		{ "64:ff9b:1:a9fe:a9:fe00::", ADDRESS_PRIVATE, ADDRESS_METADATA },
		{ "64:ff9b:1:808:8:800::", ADDRESS_PRIVATE, ADDRESS_PUBLIC },
		{ "2002:7f00:1::", ADDRESS_LOOPBACK, ADDRESS_LOOPBACK },
		{ "2002:a9fe:a9fe::1", ADDRESS_METADATA, ADDRESS_METADATA },
		{ "2002:c0a8:101::1", ADDRESS_PRIVATE, ADDRESS_PUBLIC },
		{ "2002:808:808::1", ADDRESS_PUBLIC, ADDRESS_PUBLIC },
	};
	static const struct address_guard strict, srt = { .kind = GUARD_SRT };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct address addr = addr_of(cases[i].addr);

		is_int(address_guarded(&strict, &addr, NULL), cases[i].strict, "%s", cases[i].addr);
		is_int(address_guarded(&srt, &addr, NULL), cases[i].srt, "%s in srt's classes",
		       cases[i].addr);
	}
}

static bool is_own(void *ctx, const struct address *addr)
{
	return address_equal(addr, ctx);
}

static void test_guard(void)
{
	struct address own = addr_of("192.0.2.2"), other = addr_of("192.0.2.3");
	struct address nat64 = addr_of("64:ff9b::192.0.2.2");
	struct address_guard guard = { .own = is_own, .ctx = &own };
	struct address_range denied;
	unsigned bits = 1;

	is_int(address_guarded(&guard, &own, &bits), ADDRESS_OWN, "the host's own address");
	is_int(bits, 128, "which only that very address opens");
	is_int(address_guarded(&guard, &nat64, NULL), ADDRESS_OWN, "also behind a translator");
	is_int(address_guarded(&guard, &other, &bits), ADDRESS_PUBLIC, "not its neighbour");
	is_int(bits, 0, "which is in no special range");
	own = addr_of("192.168.1.5");
	is_int(address_guarded(&guard, &own, &bits), ADDRESS_OWN, "its private one is its own");
	other = addr_of("192.168.1.6");
	is_int(address_guarded(&guard, &other, &bits), ADDRESS_PRIVATE, "the neighbour is private");
	is_int(bits, 96 + 16, "in 192.168.0.0/16");
	guard.kind = GUARD_SRT;
	is_int(address_guarded(&guard, &own, NULL), ADDRESS_OWN, "own in srt's classes too");
	ok(range_parse("192.0.2.0/24", &denied) == RANGE_OK, "a further range");
	guard.denied = &denied;
	guard.n_denied = 1;
	other = addr_of("192.0.2.77");
	is_int(address_guarded(&guard, &other, NULL), ADDRESS_DENIED, "is refused");
	is_int(address_guarded(&guard, &nat64, NULL), ADDRESS_DENIED, "behind a translator too");
	other = addr_of("192.0.3.0");
	is_int(address_guarded(&guard, &other, NULL), ADDRESS_PUBLIC, "and nothing beside it");
}

int main(void)
{
	test_parse();
	test_sockaddr();
	test_ranges();
	test_range_has();
	test_classes();
	test_guard();
	return done();
}
