/* SPDX-License-Identifier: MIT */
/* SHA-256 against the standard's vectors and every length around a block. */
#include "base/sha256.h"

#include "lib/tap.h"

static void check(const char *data, size_t len, const char *want, const char *name)
{
	char hex[SHA256_HEX];

	sha256_hex(data, len, hex);
	is_str(hex, want, "%s", name);
}

static void test_million(void)
{
	char *a = malloc(1000000);

	if (!a)
		abort();
	memset(a, 'a', 1000000);
	check(a, 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
	      "a million times 'a'");
	free(a);
}

/* The digests of 0 to 130 times 'a', written one after the other, digested again: one value that
 * covers every way the last blocks can be padded. Computed with another implementation. */
static void test_lengths(void)
{
	char text[131 * 64], a[131];

	memset(a, 'a', sizeof(a));
	for (size_t i = 0; i < 131; i++) {
		char hex[SHA256_HEX];

		sha256_hex(a, i, hex);
		memcpy(text + 64 * i, hex, 64);
	}
	check(text, sizeof(text),
	      "5eee4c50e1b5ec4f1a47f34c25ca988850b49da7904f5ab1b3abc5cc0ae66ef9",
	      "every length from 0 to 130");
}

int main(void)
{
	check("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "empty");
	check("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "abc");
	check("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
	      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1", "two blocks");
	test_million();
	test_lengths();
	return done();
}
