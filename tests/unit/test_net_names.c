/* SPDX-License-Identifier: MIT */
/* Canonical names and the table of synthetic addresses; the hash is private, so names.c is included. */
#include "net/names.c" /* NOLINT */

#include "lib/tap.h"

#define L63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define L61 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void test_canonical(void)
{
	static const struct {
		const char *text, *want; /* NULL: refused */
	} cases[] = {
		{ "example.com", "example.com" },
		{ "EXAMPLE.Com.", "example.com" },
		{ "localhost", "localhost" },
		{ "a-b_c.x1", "a-b_c.x1" },
		{ "_http._tcp.example.com", "_http._tcp.example.com" },
		{ "xn--bcher-kva.example", "xn--bcher-kva.example" },
		{ "1.example", "1.example" },
		{ "1e5", "1e5" },
		{ L63 ".x", L63 ".x" },
		{ L63 "." L63 "." L63 "." L61, L63 "." L63 "." L63 "." L61 },
		{ L63 "." L63 "." L63 "." L61 ".", L63 "." L63 "." L63 "." L61 },
		{ L63 "." L63 "." L63 "." L61 "a", NULL },
		{ L63 "a.x", NULL },
		{ "", NULL },
		{ ".", NULL },
		{ "..", NULL },
		{ ".a", NULL },
		{ "a..b", NULL },
		{ "a..", NULL },
		{ "a b", NULL },
		{ "a/b", NULL },
		{ "a%b", NULL },
		{ "*.a", NULL },
		{ "a:1", NULL },
		{ "b\xc3\xbc"
		  "cher.example",
		  NULL },
		{ "a\n", NULL },
		{ "127.0.0.1", NULL },
		{ "127.0.0.1.", NULL },
		{ "127.1", NULL },
		{ "2130706433", NULL },
		{ "0x7f000001", NULL },
		{ "0X7F.1", NULL },
		{ "x.0x7f", NULL },
		{ "x.0x", NULL },
		{ "example.123", NULL },
		{ "::1", NULL },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char buf[NAME_SIZE];

		is_str(name_canonical(cases[i].text, strlen(cases[i].text), buf) ? buf : NULL,
		       cases[i].want, "'%s'", cases[i].text);
	}
	ok(!name_canonical("evil.example\0.example.com", 25, (char[NAME_SIZE]){ 0 }),
	   "a NUL inside is no name");
}

static void test_below(void)
{
	ok(name_is_below("a.x.y", "x.y"), "a.x.y is below x.y");
	ok(name_is_below("b.a.x.y", "x.y"), "b.a.x.y too");
	ok(!name_is_below("x.y", "x.y"), "x.y itself is not");
	ok(!name_is_below("ax.y", "x.y"), "nor ax.y");
	ok(!name_is_below("y", "x.y"), "nor what is above");
	ok(!name_is_below("x.y.evil", "x.y"), "nor what only begins so");
}

/* Every address is another, leads back to its name, and the name to it. */
static void test_table(void)
{
	_cleanup_names_ struct names *names = names_new();
	static bool used[NAMES_SLOTS];
	unsigned wrong = 0;
	struct address addr;
	char name[NAME_SIZE], text[ADDRESS_TEXT];

	if (!ok(names != NULL, "a table"))
		return;
	for (int i = 0; i < NAMES_MAX; i++) {
		int slot;

		(void)snprintf(name, sizeof(name), "host-%d.example.com", i);
		slot = names_add(names, name);
		if (slot < 0 || slot >= NAMES_SLOTS || used[slot]) {
			wrong++;
			continue;
		}
		used[slot] = true;
		wrong += names_add(names, name) != slot;
	}
	is_int(wrong, 0, "8192 names have 8192 slots");
	is_int((long long)names_count(names), NAMES_MAX, "and are counted once each");
	for (int i = 0; i < NAMES_MAX; i++) {
		struct address v4, v6, mapped;
		const char *at;
		int slot;

		(void)snprintf(name, sizeof(name), "host-%d.example.com", i);
		slot = names_add(names, name);
		v4 = names_v4(slot);
		v6 = names_v6(slot);
		at = names_at(names, &v4);
		wrong += !at || strcmp(at, name) || names_at(names, &v6) != at;
		wrong += !names_is_synthetic(&v4) || !names_is_synthetic(&v6);
		(void)snprintf(text, sizeof(text), "::ffff:198.%u.%u.%u", v4.b[13], v4.b[14],
			       v4.b[15]);
		wrong += !address_parse(text, &mapped) || names_at(names, &mapped) != at;
	}
	is_int(wrong, 0, "each of both addresses leads back, mapped ones too");
	is_int(names_add(names, "one-more.example.com"), -ENOSPC, "then it is full");
	ok(names_add(names, "host-5.example.com") >= 0, "for new names only");
	is_int((long long)names_count(names), NAMES_MAX, "which are not in it");
	wrong = 0;
	for (int slot = 0; slot < NAMES_SLOTS; slot++) {
		addr = names_v4(slot);
		wrong += !used[slot] && names_at(names, &addr);
	}
	is_int(wrong, 0, "addresses that were not given out lead nowhere");
}

static void test_addresses(void)
{
	static const struct {
		const char *addr;
		bool synthetic;
	} cases[] = {
		{ "198.18.0.255", false },
		{ "198.18.1.0", true },
		{ "198.19.0.255", true },
		{ "198.19.1.0", false },
		{ "fd53:b0c5:0:1::", false },
		{ "fd53:b0c5:0:1::1", true },
		{ "fd53:b0c5:0:1::1:0", true },
		{ "fd53:b0c5:0:1::1:1", false },
		{ "fd53:b0c5:0:1::1:0:1", false },
		{ "fd53:b0c5::2", false },
		{ "::198.18.1.0", false },
		{ "64:ff9b::198.18.1.0", false },
		{ "198.18.0.2", false },
		{ "127.0.0.1", false },
		{ "0.0.0.0", false },
	};
	char buf[ADDRESS_TEXT];
	struct address addr;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		ok(address_parse(cases[i].addr, &addr) &&
			   names_is_synthetic(&addr) == cases[i].synthetic,
		   "%s is %ssynthetic", cases[i].addr, cases[i].synthetic ? "" : "not ");
	}
	addr = names_v4(0);
	is_str(address_print(&addr, buf), "198.18.1.0", "the first IPv4");
	addr = names_v4(NAMES_SLOTS - 1);
	is_str(address_print(&addr, buf), "198.19.0.255", "the last");
	addr = names_v6(0);
	is_str(address_print(&addr, buf), "fd53:b0c5:0:1::1", "the first IPv6");
	addr = names_v6(NAMES_SLOTS - 1);
	is_str(address_print(&addr, buf), "fd53:b0c5:0:1::1:0", "the last");
}

/* What is in caches inside must mean the same under the next supervisor, of the next version too. */
static void test_deterministic(void)
{
	static const struct {
		const char *name, *addr;
	} cases[] = {
		{ "example.com", "198.18.162.179" },
		{ "github.com", "198.18.176.88" },
		{ "api.example.com", "198.18.222.123" },
	};
	_cleanup_names_ struct names *a = names_new(), *b = names_new();
	size_t n = ARRAY_LEN(cases);
	char buf[ADDRESS_TEXT];

	for (size_t i = 0; i < n; i++) {
		struct address addr = names_v4(names_add(a, cases[i].name));

		is_str(address_print(&addr, buf), cases[i].addr, "%s", cases[i].name);
		names_add(b, cases[n - 1 - i].name);
	}
	for (size_t i = 0; i < n; i++)
		is_int(names_add(b, cases[i].name), names_add(a, cases[i].name),
		       "whatever was asked for before");
}

/* Names that were made to collide are refused after a short search, and others are not. */
static void test_collisions(void)
{
	_cleanup_names_ struct names *names = names_new();
	unsigned added = 0, refused = 0;
	char name[NAME_SIZE];

	for (unsigned i = 0; refused < 3; i++) {
		(void)snprintf(name, sizeof(name), "x%u.example.com", i);
		if (name_hash(name) % NAMES_SLOTS != 7)
			continue;
		if (names_add(names, name) >= 0)
			added++;
		else
			refused++;
	}
	is_int(added, NAMES_PROBES, "as many as are searched for");
	is_int((long long)names_count(names), added, "the others are not there");
	ok(names_add(names, "example.com") >= 0, "a name of another slot has its place");
}

int main(void)
{
	test_canonical();
	test_below();
	test_table();
	test_addresses();
	test_deterministic();
	test_collisions();
	return done();
}
