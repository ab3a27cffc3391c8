/* SPDX-License-Identifier: MIT */
/* The name in a TLS ClientHello: in pieces, over several records, and every way to hide another. */
#include "net/hello.h"

#include "lib/tap.h"

struct bytes {
	uint8_t b[HELLO_MAX * 2];
	size_t len;
};

static void add(struct bytes *to, const void *data, size_t len)
{
	memcpy(to->b + to->len, data, len);
	to->len += len;
}

static void add16(struct bytes *to, size_t n)
{
	add(to, (uint8_t[]){ (uint8_t)(n >> 8), (uint8_t)n }, 2);
}

static void add_extension(struct bytes *to, unsigned type, const void *data, size_t len)
{
	add16(to, type);
	add16(to, len);
	add(to, data, len);
}

static void add_sni(struct bytes *to, const char *name, size_t len)
{
	add16(to, 0);
	add16(to, len + 5);
	add16(to, len + 3);
	add(to, "", 1);
	add16(to, len);
	add(to, name, len);
}

static size_t session_len = 32, compressions = 1;

/* A handshake message around the extensions; NULL: without any, as very old clients have it. */
static void make_hello(struct bytes *to, const struct bytes *exts)
{
	size_t len = 2 + 32 + 1 + session_len + 2 + 4 + 1 + compressions;

	len += exts ? 2 + exts->len : 0;

	to->len = 0;
	add(to, (uint8_t[]){ 1, (uint8_t)(len >> 16), (uint8_t)(len >> 8), (uint8_t)len }, 4);
	add(to, "\3\3", 2);
	for (int i = 0; i < 32; i++)
		add(to, "r", 1);
	add(to, (uint8_t[]){ (uint8_t)session_len }, 1);
	for (size_t i = 0; i < session_len; i++)
		add(to, "s", 1);
	add(to, "\0\4\x13\1\x13\2", 6);
	add(to, (uint8_t[]){ (uint8_t)compressions }, 1);
	for (size_t i = 0; i < compressions; i++)
		add(to, "", 1);
	if (exts) {
		add16(to, exts->len);
		add(to, exts->b, exts->len);
	}
}

/* Cut into records of that size. */
static void make_records(struct bytes *to, const struct bytes *message, size_t size)
{
	to->len = 0;
	for (size_t at = 0; at < message->len; at += size) {
		size_t n = MIN(size, message->len - at);

		add(to, "\x16\3\1", 3);
		add16(to, n);
		add(to, message->b + at, n);
	}
}

static const char *result_name(enum hello_result result)
{
	static const char *const names[] = { "more", "not TLS", "no SNI", "SNI", "bad" };

	return names[result];
}

/* All at once, and byte by byte: the same, or "differs". Bytes lie in memory of their own size. */
static const char *parse(const struct bytes *in, char ret_name[NAME_SIZE])
{
	struct hello whole = { 0 }, pieces = { 0 };
	_cleanup_free_ uint8_t *copy = malloc(in->len ? in->len : 1);

	if (!copy)
		abort();
	memcpy(copy, in->b, in->len);
	hello_feed(&whole, copy, in->len);
	for (size_t i = 0; i < in->len; i++) {
		uint8_t c = copy[i];

		hello_feed(&pieces, &c, 1);
	}
	memcpy(ret_name, whole.name, NAME_SIZE);
	if (whole.result != pieces.result || whole.fed != pieces.fed ||
	    (whole.result == HELLO_SNI && strcmp(whole.name, pieces.name)))
		return "differs";
	return result_name(whole.result);
}

static struct bytes exts, message, wire;

static void check(const struct bytes *in, const char *want, const char *what)
{
	char name[NAME_SIZE];

	is_str(parse(in, name), want, "%s", what);
}

static void test_names(void)
{
	static const struct {
		const char *name;
		size_t len;       /* 0: strlen() */
		const char *want; /* NULL: bad */
	} cases[] = {
		{ "example.com", 0, "example.com" },
		{ "EXAMPLE.com", 0, "example.com" },
		{ "example.com.", 0, "example.com" },
		{ "example.com..", 0, NULL },
		{ "example.com.evil.example", 0, "example.com.evil.example" },
		{ "evil.example\0.example.com", 25, NULL },
		{ "example.com\0", 12, NULL },
		{ "\0example.com", 12, NULL },
		{ ".example.com", 0, NULL },
		{ "example.com ", 0, NULL },
		{ "example.com\n", 0, NULL },
		{ "*.example.com", 0, NULL },
		{ "example.com:443", 0, NULL },
		{ "evil.example/example.com", 0, NULL },
		{ "ex\xc3\xa4mple.com", 0, NULL },
		{ "192.0.2.1", 0, NULL },
		{ "::1", 0, NULL },
		{ ".", 0, NULL },
		{ "localhost", 0, "localhost" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		size_t len = cases[i].len ? cases[i].len : strlen(cases[i].name);
		char name[NAME_SIZE];

		exts.len = 0;
		add_sni(&exts, cases[i].name, len);
		make_hello(&message, &exts);
		make_records(&wire, &message, 16384);
		is_str(parse(&wire, name), cases[i].want ? "SNI" : "bad", "the name '%s' (%zu)",
		       cases[i].name, len);
		if (cases[i].want)
			is_str(name, cases[i].want, "is %s", cases[i].want);
	}
}

static void test_long_names(void)
{
	char name[300], got[NAME_SIZE];

	for (size_t i = 0; i < sizeof(name); i++)
		name[i] = i % 50 == 49 ? '.' : 'a';
	for (size_t len = 250; len <= 257; len++) {
		bool fits = len <= 253 && name[len - 1] != '.';

		exts.len = 0;
		add_sni(&exts, name, len);
		make_hello(&message, &exts);
		make_records(&wire, &message, 16384);
		/* 250 ends in a dot, which does not count. */
		fits = fits || len == 250;
		is_str(parse(&wire, got), fits ? "SNI" : "bad", "a name of %zu bytes", len);
	}
	name[253] = '.';
	exts.len = 0;
	add_sni(&exts, name, 254);
	make_hello(&message, &exts);
	make_records(&wire, &message, 16384);
	is_str(parse(&wire, got), "SNI", "253 bytes and a dot");
}

/* In records of every size, cut off at every byte. */
static void test_split(void)
{
	unsigned wrong = 0;
	char name[NAME_SIZE];

	exts.len = 0;
	add_extension(&exts, 10, "\0\2\0\x1d", 4);
	add_sni(&exts, "a.example.com", 13);
	add_extension(&exts, 0xfe0d, "ech ech ech", 11);
	add_extension(&exts, 16, "", 0);
	make_hello(&message, &exts);
	for (size_t size = 1; size <= message.len; size++) {
		make_records(&wire, &message, size);
		wrong += strcmp(parse(&wire, name), "SNI") || strcmp(name, "a.example.com");
	}
	is_int(wrong, 0, "records of any size");
	make_records(&wire, &message, message.len / 3 + 1);
	for (size_t len = 0; len < wire.len; len++) {
		struct bytes *part = malloc(sizeof(*part));

		if (!part)
			abort();
		memcpy(part->b, wire.b, len);
		part->len = len;
		wrong += strcmp(parse(part, name), "more") != 0;
		free(part);
	}
	is_int(wrong, 0, "as long as a byte is missing, more is wanted");
	add(&wire, "\x17\3\3 early data", 14);
	check(&wire, "SNI", "what comes behind does not matter");
}

static void test_without(void)
{
	exts.len = 0;
	make_hello(&message, NULL);
	make_records(&wire, &message, 16384);
	check(&wire, "no SNI", "a hello without extensions");
	make_hello(&message, &exts);
	make_records(&wire, &message, 16384);
	check(&wire, "no SNI", "a hello with no extension");
	add_extension(&exts, 43, "\2\3\4", 3);
	make_hello(&message, &exts);
	make_records(&wire, &message, 16384);
	check(&wire, "no SNI", "a hello with others");
}

static void test_not_tls(void)
{
	static const struct {
		const char *what, *bytes;
		size_t len;
		const char *want;
	} cases[] = {
#define B(s) s, sizeof(s) - 1
		{ "nothing", B(""), "more" },
		{ "HTTP", B("GET / HTTP/1.1\r\n"), "not TLS" },
		{ "SSH", B("SSH-2.0-x\r\n"), "not TLS" },
		{ "SSL 2", B("\x80\x2e\1\3\1"), "not TLS" },
		{ "a NUL", B("\0"), "not TLS" },
		{ "one byte of TLS", B("\x16"), "more" },
		{ "an alert first", B("\x15\3\1\0\2\1\0\x16\3\1"), "bad" },
		{ "a cipher change first", B("\x14\3\1\0\1\1"), "bad" },
		{ "data first", B("\x17\3\3\0\1x"), "bad" },
		{ "a heartbeat first", B("\x18\3\3\0\1x"), "bad" },
		{ "TLS of another major version", B("\x16\2\0\0\1"), "bad" },
		{ "DTLS", B("\x16\xfe\xfd\0"), "bad" },
		{ "an empty record", B("\x16\3\1\0\0"), "bad" },
		{ "a record that is too long", B("\x16\3\1\x40\1"), "bad" },
		{ "the longest record", B("\x16\3\1\x40\0"), "more" },
		{ "a server's hello", B("\x16\3\1\0\4\2"), "bad" },
		{ "a hello of 16 MB", B("\x16\3\1\0\4\1\xff\xff\xff"), "bad" },
		{ "a hello of no bytes", B("\x16\3\1\0\4\1\0\0\0"), "bad" },
#undef B
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		wire.len = 0;
		add(&wire, cases[i].bytes, cases[i].len);
		check(&wire, cases[i].want, cases[i].what);
	}
}

/* Two names, of which a server may see the other one. */
static void test_two_names(void)
{
	exts.len = 0;
	add_sni(&exts, "example.com", 11);
	add_sni(&exts, "evil.example", 12);
	make_hello(&message, &exts);
	make_records(&wire, &message, 16384);
	check(&wire, "bad", "two extensions");
	exts.len = 0;
	add_sni(&exts, "example.com", 11);
	add_sni(&exts, "example.com", 11);
	make_hello(&message, &exts);
	make_records(&wire, &message, 16384);
	check(&wire, "bad", "also of the same name");
	exts.len = 0;
	add_extension(&exts, 0, "\0\x08\0\0\1a\0\0\1b", 10);
	make_hello(&message, &exts);
	make_records(&wire, &message, 16384);
	check(&wire, "bad", "two names in a list");
	exts.len = 0;
	add_extension(&exts, 0, "\0\x08\1\0\1a\0\0\1b", 10);
	make_hello(&message, &exts);
	make_records(&wire, &message, 16384);
	check(&wire, "bad", "a name of another kind");
}

static void test_lengths(void)
{
	static const struct {
		const char *what, *ext;
		size_t len;
	} cases[] = {
#define B(s) s, sizeof(s) - 1
		{ "an empty extension", B("") },
		{ "half a list length", B("\0") },
		{ "an empty list", B("\0\0") },
		{ "a list that is longer than it", B("\0\5\0\0\1a") },
		{ "a list that is shorter", B("\0\3\0\0\1a") },
		{ "an empty name", B("\0\3\0\0\0") },
		{ "a name longer than the list", B("\0\4\0\0\2a") },
		{ "a name shorter", B("\0\5\0\0\1ab") },
		{ "a name of another kind", B("\0\4\1\0\1a") },
#undef B
	};
	/* Where a byte of make_hello()'s message is wrong: version, lengths. */
	static const struct {
		size_t at;
		uint8_t value;
		const char *what;
	} wrong[] = {
		{ 4, 2, "version 2" },
		{ 3, 0, "a body that ends before the extensions" },
		{ 38, 33, "a session of 33 bytes" },
		{ 71, 0xff, "ciphers beyond the body" },
		{ 72, 0, "no ciphers" },
		{ 72, 3, "half a cipher" },
		{ 77, 0, "no compression" },
		{ 77, 255, "compressions beyond the body" },
		{ 80, 1, "extensions that are shorter" },
		{ 79, 1, "extensions that are longer" },
		{ 84, 1, "an extension beyond the extensions" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		exts.len = 0;
		add_extension(&exts, 0, cases[i].ext, cases[i].len);
		make_hello(&message, &exts);
		make_records(&wire, &message, 16384);
		check(&wire, "bad", cases[i].what);
	}
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		exts.len = 0;
		add_sni(&exts, "example.com", 11);
		make_hello(&message, &exts);
		make_records(&wire, &message, 16384);
		check(&wire, "SNI", "right");
		message.b[wrong[i].at] = wrong[i].value;
		make_records(&wire, &message, 16384);
		check(&wire, "bad", wrong[i].what);
	}
}

/* Whole and in order, but for one thing. */
static void test_limits(void)
{
	static const struct {
		size_t session_len, compressions;
		const char *want;
	} cases[] = {
		{ 0, 1, "SNI" },
		{ 32, 255, "SNI" },
		{ 33, 1, "bad" },
		{ 32, 0, "bad" },
	};

	exts.len = 0;
	add_sni(&exts, "example.com", 11);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		session_len = cases[i].session_len;
		compressions = cases[i].compressions;
		make_hello(&message, &exts);
		make_records(&wire, &message, 16384);
		check(&wire, cases[i].want, "sizes of session and compressions");
	}
	session_len = 32;
	compressions = 1;
	exts.len--;
	make_hello(&message, &exts);
	add(&message, "m", 1);
	make_records(&wire, &message, 16384);
	check(&wire, "bad", "a name that goes beyond the hello");
}

static void test_between(void)
{
	exts.len = 0;
	add_sni(&exts, "example.com", 11);
	make_hello(&message, &exts);
	wire.len = 0;
	add(&wire, "\x16\3\1\0\x0a", 5);
	add(&wire, message.b, 10);
	add(&wire, "\x15\3\1\0\2\1\0", 7);
	check(&wire, "bad", "an alert in the middle of the hello");
	wire.len = 15;
	add(&wire, "\x16\3\1\0\0", 5);
	check(&wire, "bad", "an empty record in the middle");
	wire.len = 15;
	add(&wire, "GET", 3);
	check(&wire, "bad", "something else in the middle");
}

/* The limit is on what lies on the wire. */
static void test_limit(void)
{
	static uint8_t padding[HELLO_MAX];
	size_t around;

	exts.len = 0;
	add_sni(&exts, "example.com", 11);
	make_hello(&message, &exts);
	around = message.len + 4;
	for (int over = 0; over <= 1; over++) {
		exts.len = 0;
		/* Four records of 16384 have 20 bytes of headers besides one for the rest. */
		add_extension(&exts, 21, padding, HELLO_MAX - around - 4 * 5 + (size_t)over);
		add_sni(&exts, "example.com", 11);
		make_hello(&message, &exts);
		make_records(&wire, &message, 16384);
		is_int((long long)wire.len, HELLO_MAX + over, "a hello of that size");
		check(&wire, over ? "bad" : "SNI", over ? "is too long" : "is read");
	}
	wire.len = 0;
	while (wire.len < sizeof(wire.b) - 8) {
		static const uint8_t start[] = { 1, 0, 0xff, 0xff, 3, 3 };
		size_t n = wire.len / 6;

		add(&wire, "\x16\3\1\0\1", 5);
		add(&wire, n < sizeof(start) ? start + n : (const uint8_t *)"\1", 1);
	}
	check(&wire, "bad", "one byte a record comes to an end");
}

static void test_matches(void)
{
	struct hello h = { 0 };

	exts.len = 0;
	add_sni(&exts, "Example.COM.", 12);
	make_hello(&message, &exts);
	make_records(&wire, &message, 16384);
	hello_feed(&h, wire.b, wire.len - 1);
	ok(!hello_matches(&h, "example.com"), "half a hello matches nothing");
	hello_feed(&h, wire.b + h.fed, wire.len - h.fed);
	is_int(h.result, HELLO_SNI, "the rest, from where it was fed to");
	ok(hello_matches(&h, "example.com"), "the pinned name");
	ok(!hello_matches(&h, "www.example.com") && !hello_matches(&h, "example.co"), "no other");
	is_int(hello_feed(&h, "more", 4), HELLO_SNI, "the result stays");
	h = (struct hello){ 0 };
	hello_feed(&h, "GET", 3);
	ok(!hello_matches(&h, ""), "what has no name matches no name");
}

int main(void)
{
	test_names();
	test_long_names();
	test_split();
	test_without();
	test_not_tls();
	test_two_names();
	test_lengths();
	test_limits();
	test_between();
	test_limit();
	test_matches();
	return done();
}
