/* SPDX-License-Identifier: MIT */
/* DNS answers: what each kind of name and type gets, and what malformed queries do. */
#include "net/dns.h"

#include <errno.h>

#include "lib/tap.h"

enum { A = 1, NS = 2, SOA = 6, PTR = 12, MX = 15, TXT = 16, AAAA = 28, SRV = 33, HTTPS = 65 };
enum { AXFR = 252, ANY = 255, NOERROR = 0, FORMERR = 1, SERVFAIL = 2, NXDOMAIN = 3, NOTIMP = 4 };

#define L63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

struct message {
	uint8_t b[DNS_QUERY_MAX + 8];
	size_t len;
};

static void add(struct message *m, const void *data, size_t len)
{
	memcpy(m->b + m->len, data, len);
	m->len += len;
}

static void add16(struct message *m, unsigned n)
{
	add(m, (uint8_t[]){ (uint8_t)(n >> 8), (uint8_t)n }, 2);
}

/* Labels as they are written; the case stays. */
static void add_name(struct message *m, const char *name)
{
	while (*name) {
		uint8_t len = (uint8_t)strcspn(name, ".");

		add(m, &len, 1);
		add(m, name, len);
		name += len + (name[len] == '.');
	}
	add(m, "", 1);
}

static struct message query_of(const char *name, unsigned type)
{
	struct message m = { 0 };

	add16(&m, 0xbeef);
	add16(&m, 0x0100); /* recursion desired */
	add16(&m, 1);
	add(&m, "\0\0\0\0\0\0", 6);
	add_name(&m, name);
	add16(&m, type);
	add16(&m, 1);
	return m;
}

/* EDNS, with the DNSSEC bit and an option. */
static void add_edns(struct message *m, unsigned version)
{
	m->b[11]++;
	add(m, "", 1);
	add16(m, 41);
	add16(m, 4096);
	add16(m, version);
	add16(m, 0x8000);
	add16(m, 4 + 8);
	add(m,
	    "\0\x0a\0\x08"
	    "12345678",
	    12); /* a cookie */
}

struct fixture {
	struct dns dns;
	struct policy *policy;
	struct names *names;
	uint8_t buf[DNS_ANSWER_MAX];
	struct dns_answer answer;
};

static void setup(struct fixture *f)
{
	struct err err = { 0 };

	memset(f, 0, sizeof(*f));
	f->policy = policy_new();
	f->names = names_new();
	f->dns = (struct dns){ .policy = f->policy, .names = f->names };
	ok(policy_add(f->policy, "example.com:443", 0, &err) == 0 &&
		   policy_add(f->policy, "*.wild.example", 0, &err) == 0 &&
		   policy_add(f->policy, "bad.wild.example", RULE_DENY, &err) == 0 &&
		   policy_add(f->policy, "wpad.corp.example", 0, &err) == 0,
	   "rules");
}

static void teardown(struct fixture *f)
{
	policy_unref(f->policy);
	names_free(f->names);
}

/* The query in memory of its own size, so that a sanitizer sees a read past its end. */
static void query(struct fixture *f, const struct message *m)
{
	_cleanup_free_ uint8_t *data = malloc(m->len ? m->len : 1);

	if (!data)
		abort();
	memcpy(data, m->b, m->len);
	dns_answer(&f->dns, data, m->len, f->buf, &f->answer);
}

static unsigned get16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

/* The answer as one line: rcode, then the record's data. */
static const char *show(struct fixture *f, const struct message *m)
{
	static char line[512];
	const uint8_t *p = f->buf + m->len;
	char text[NAME_SIZE + 8];
	size_t n = 0;

	(void)snprintf(line, sizeof(line), "%u", f->buf[3] & 15u);
	if (f->answer.len < 12 || get16(f->buf + 6) != 1)
		return line;
	if (get16(p) != 0xc00c || get16(p + 4) != 1 || get16(p + 6) || get16(p + 8) != DNS_TTL)
		return "not the record that was asked for";
	if (get16(p + 2) == PTR) {
		for (p += 12; *p; p += *p + 1)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%.*s.", *p, p + 1);
	} else {
		struct address addr = address_v4(0);

		memcpy(addr.b + (get16(p + 2) == A ? 12 : 0), p + 12, get16(p + 10));
		address_print(&addr, text);
	}
	(void)snprintf(line, sizeof(line), "%u %s", f->buf[3] & 15u, text);
	return line;
}

static struct address pair(const char *name, bool v6)
{
	_cleanup_names_ struct names *names = names_new();
	int slot = names_add(names, name);

	return v6 ? names_v6(slot) : names_v4(slot);
}

struct question {
	const char *name;
	unsigned type;
	const char *want;   /* as show() has it; '@' is the name's own address */
	const char *report; /* reason and name of the event; NULL: none */
};

static void check_header(const struct fixture *f, const struct message *m, const char *name)
{
	ok(f->answer.len >= m->len && f->answer.len <= DNS_ANSWER_MAX && get16(f->buf) == 0xbeef &&
		   get16(f->buf + 4) == 1 && get16(f->buf + 8) == 0,
	   "%s: the header", name);
	is_int(get16(f->buf + 2) & 0xfff0, 0x8180,
	       "an answer, with recursion, not authentic, not cut short");
	ok(!memcmp(f->buf + 12, m->b + 12, m->len - 12), "the question, byte for byte");
}

static void check(struct fixture *f, const struct question *q)
{
	struct message m = query_of(q->name, q->type);
	char want[512], canonical[NAME_SIZE], event[NAME_SIZE + 64];
	struct address addr;

	query(f, &m);
	check_header(f, &m, q->name);
	(void)snprintf(want, sizeof(want), "%s", q->want);
	if (strchr(want, '@') && name_canonical(q->name, strlen(q->name), canonical)) {
		addr = pair(canonical, q->type == AAAA);
		address_print(&addr, strchr(want, '@'));
	}
	is_str(show(f, &m), want, "%s type %u", q->name, q->type);
	(void)snprintf(event, sizeof(event), "%s %s", net_reason_name(f->answer.verdict.reason),
		       f->answer.name);
	is_str(f->answer.report ? event : NULL, q->report, "its event");
}

static void test_answers(void)
{
	static const struct question cases[] = {
		{ "example.com", A, "0 @" },
		{ "example.com", AAAA, "0 @" },
		{ "eXaMPle.COM", A, "0 @" },
		{ "example.com", TXT, "0" },
		{ "example.com", MX, "0" },
		{ "example.com", HTTPS, "0" },
		{ "example.com", AXFR, "0" },
		{ "example.com", ANY, "0" },
		{ "example.com", NS, "0" },
		{ "www.example.com", A, "3", "not-allowed www.example.com" },
		{ "WWW.example.com", AAAA, "3", "not-allowed www.example.com" },
		{ "a.wild.example", A, "0 @" },
		{ "b.a.wild.example", AAAA, "0 @" },
		{ "wild.example", A, "3", "not-allowed wild.example" },
		{ "bad.wild.example", A, "3", "denied-name bad.wild.example" },
		{ "secret-data.tunnel.example", TXT, "3",
		  "not-allowed secret-data.tunnel.example" },
		{ "gitlab", A, "3", "not-allowed gitlab" },
		{ "", NS, "0" },
		{ "localhost", A, "0 127.0.0.1" },
		{ "localhost", AAAA, "0 ::1" },
		{ "LocalHost", A, "0 127.0.0.1" },
		{ "app.localhost", A, "0 127.0.0.1" },
		{ "localhost", TXT, "0" },
		{ "notlocalhost", A, "3", "not-allowed notlocalhost" },
		{ "localhost.example", A, "3", "not-allowed localhost.example" },
		/* Services: of an allowed host they have no data; of another the host is reported. */
		{ "_http._tcp.example.com", SRV, "0" },
		{ "_http._tcp.example.com", A, "0" },
		{ "_443._https.example.com", HTTPS, "0" },
		{ "_http._tcp.evil.example", SRV, "3", "not-allowed evil.example" },
		{ "_tcp", SRV, "3", "not-allowed _tcp" },
		{ "a._tcp.example.com", SRV, "3", "not-allowed a._tcp.example.com" },
		{ "_x.a.wild.example", A, "0 @" },
		{ "_x.a.wild.example", SRV, "0" },
		/* What programs ask for by themselves. */
		{ "use-application-dns.net", A, "3" },
		{ "_dns.resolver.arpa", 64, "3" },
		{ "ipv4only.arpa", AAAA, "3" },
		{ "wpad", A, "3" },
		{ "WPAD.lan", A, "3" },
		{ "wpad.corp.example", A, "0 @" },
		{ "wpadx.lan", A, "3", "not-allowed wpadx.lan" },
		{ "x.use-application-dns.net", A, "3", "not-allowed x.use-application-dns.net" },
		/* No host names. */
		{ "a b.example", A, "3", "bad-name a?b.example" },
		{ "\x1b[31m.example.com", A, "3", "bad-name ??31m.example.com" },
		{ "b\xc3\xbc"
		  "cher.example",
		  A, "3", "bad-name b??cher.example" },
		{ "127.1", A, "3", "bad-name 127.1" },
		{ "127.0.0.1", A, "3", "bad-name 127.0.0.1" },
		{ "0x7f000001", A, "3", "bad-name 0x7f000001" },
		{ "*.wild.example", A, "3", "bad-name ?.wild.example" },
		/* The host's names exist only when ports of it are open. */
		{ "host.wrapix.internal", A, "3", "not-allowed host.wrapix.internal" },
	};
	struct fixture f;

	setup(&f);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check(&f, &cases[i]);
	is_int((long long)names_count(f.names), 5, "only A and AAAA of allowed names took a slot");
	teardown(&f);
}

static void test_reverse(void)
{
	static const struct question cases[] = {
		{ "1.0.0.127.in-addr.arpa", PTR, "0 localhost." },
		{ "9.9.0.127.IN-ADDR.ARPA", PTR, "0 localhost." },
		{ "1.0.0.127.in-addr.arpa", A, "0" },
		{ "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.ip6.arpa", PTR,
		  "0 localhost." },
		{ "8.8.8.8.in-addr.arpa", PTR, "3" },
		{ "255.0.19.198.in-addr.arpa", PTR, "3" },
		{ "2.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.ip6.arpa", PTR,
		  "3" },
		/* Whole ones only; the others are names like any other. */
		{ "0.0.127.in-addr.arpa", PTR, "3", "not-allowed 0.0.127.in-addr.arpa" },
		{ "256.0.0.127.in-addr.arpa", PTR, "3", "not-allowed 256.0.0.127.in-addr.arpa" },
		{ "01.0.0.127.in-addr.arpa", PTR, "3", "not-allowed 01.0.0.127.in-addr.arpa" },
		{ "1.1.0.0.127.in-addr.arpa", PTR, "3", "not-allowed 1.1.0.0.127.in-addr.arpa" },
		{ "1.0.ip6.arpa", PTR, "3", "not-allowed 1.0.ip6.arpa" },
		{ "g.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.ip6.arpa", PTR,
		  "3",
		  "not-allowed "
		  "g.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.ip6.arpa" },
		{ "in-addr.arpa", PTR, "3", "not-allowed in-addr.arpa" },
	};
	struct message m = query_of("www.wild.example", A);
	struct address addr;
	char name[NAME_SIZE];
	size_t n = 0;
	struct fixture f;

	setup(&f);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check(&f, &cases[i]);
	query(&f, &m);
	addr = pair("www.wild.example", false);
	(void)snprintf(name, sizeof(name), "%u.%u.%u.%u.in-addr.arpa", addr.b[15], addr.b[14],
		       addr.b[13], addr.b[12]);
	check(&f, &(struct question){ name, PTR, "0 www.wild.example." });
	addr = pair("www.wild.example", true);
	for (int i = 31; i >= 0; i--)
		n += (size_t)snprintf(name + n, sizeof(name) - n, "%x.",
				      addr.b[i / 2] >> (i % 2 ? 0 : 4) & 15);
	(void)snprintf(name + n, sizeof(name) - n, "ip6.arpa");
	check(&f, &(struct question){ name, PTR, "0 www.wild.example." });
	teardown(&f);
}

static void test_flags(void)
{
	struct address v4 = address_v4(0xc6120003), v6 = { { 0xfd, 0x53, [15] = 3 } };
	struct fixture f;

	setup(&f);
	f.dns.no_ipv6 = true;
	check(&f, &(struct question){ "example.com", AAAA, "0" });
	check(&f, &(struct question){ "example.com", A, "0 @" });
	check(&f, &(struct question){ "localhost", AAAA, "0" });
	f.dns.no_ipv6 = false;
	f.dns.host_v4 = &v4;
	check(&f, &(struct question){ "host.wrapix.internal", A, "0 198.18.0.3" });
	check(&f, &(struct question){ "Host.Containers.Internal", A, "0 198.18.0.3" });
	check(&f, &(struct question){ "host.wrapix.internal", AAAA, "0" });
	check(&f, &(struct question){ "x.host.wrapix.internal", A, "3",
				      "not-allowed x.host.wrapix.internal" });
	f.dns.host_v6 = &v6;
	check(&f, &(struct question){ "host.wrapix.internal", AAAA, "0 fd53::3" });
	f.dns.host_v4 = NULL;
	check(&f, &(struct question){ "host.wrapix.internal", AAAA, "0 fd53::3" });
	check(&f, &(struct question){ "host.wrapix.internal", A, "0" });
	teardown(&f);
}

static void test_full(void)
{
	struct message m = query_of("one-more.wild.example", A);
	char name[NAME_SIZE];
	struct fixture f;

	setup(&f);
	for (int i = 0; i < NAMES_MAX; i++) {
		(void)snprintf(name, sizeof(name), "h%d.wild.example", i);
		names_add(f.names, name);
	}
	query(&f, &m);
	is_str(show(&f, &m), "2", "a full table is a server failure");
	ok(f.answer.report && f.answer.verdict.reason == NET_NAMES_FULL && !f.answer.verdict.allow,
	   "and an event");
	check(&f, &(struct question){ "h1.wild.example", A, "0 @" });
	check(&f, &(struct question){ "one-more.wild.example", TXT, "0" });
	teardown(&f);
}

static void test_explain(void)
{
	char name[NAME_SIZE];
	struct message m;
	struct fixture f;

	setup(&f);
	f.dns.explain = true;
	for (int i = 0; i < NAMES_MAX; i++) {
		(void)snprintf(name, sizeof(name), "h%d.denied.example", i);
		m = query_of(name, A);
		query(&f, &m);
	}
	is_int((long long)names_count(f.names), NAMES_MAX / 2,
	       "refused names take half of the table");
	is_str(show(&f, &m), "3", "then they do not exist, as without an explanation");
	check(&f, &(struct question){ "x.wild.example", A, "0 @" });
	teardown(&f);
}

static void test_edns(void)
{
	struct message m = query_of("denied.example", A), plain;
	static const uint8_t opt[] = { 0, 0, 41, 0x04, 0xd0, 0, 0, 0x80, 0 };
	const char *why = "wrapix: no rule allows this name";
	const uint8_t *p;
	struct fixture f;
	size_t at;

	setup(&f);
	at = m.len;
	add_edns(&m, 0);
	query(&f, &m);
	p = f.buf + at;
	is_int(get16(f.buf + 10), 1, "EDNS is answered with EDNS");
	ok(!memcmp(p, opt, sizeof(opt)), "of version 0, with the DNSSEC bit as it was");
	ok(get16(p + 9) == 6 + strlen(why) && get16(p + 11) == 15 &&
		   get16(p + 13) == 2 + strlen(why) && get16(p + 15) == 15 &&
		   f.answer.len == at + 17 + strlen(why) && !memcmp(p + 17, why, strlen(why)),
	   "a denial says 'blocked' and why");
	m = query_of("bad.wild.example", A);
	add_edns(&m, 0);
	query(&f, &m);
	ok(memmem(f.buf, f.answer.len, "rule bad.wild.example", 21) != NULL, "by which rule");
	m = query_of("example.com", A);
	at = m.len;
	add_edns(&m, 0);
	query(&f, &m);
	is_int((long long)f.answer.len, (long long)at + 16 + 11, "an address has no reason");
	m = query_of("example.com", A);
	at = m.len;
	add_edns(&m, 1);
	query(&f, &m);
	ok((f.buf[3] & 15) == 0 && f.buf[at + 5] == 1 && !get16(f.buf + 6),
	   "another version is BADVERS");
	m = query_of("denied.example", A);
	at = m.len;
	add_edns(&m, 0);
	m.b[9] = 1; /* the record is one of authority */
	m.b[11] = 0;
	query(&f, &m);
	is_int((long long)f.answer.len, (long long)at, "EDNS elsewhere is none");
	plain = query_of("denied.example", A);
	query(&f, &plain);
	is_int((long long)f.answer.len, (long long)plain.len,
	       "without EDNS no more than the question");
	teardown(&f);
}

/* The longest names there are: all fit. */
static void test_long(void)
{
	static const char longest[] = L63
		"." L63 "." L63 ".aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.wild.example";
	struct message m = query_of(longest, AAAA);
	struct err err = { 0 };
	struct fixture f;
	int slot;

	setup(&f);
	is_int((long long)strlen(longest), 253, "a name of 253 characters");
	add_edns(&m, 0);
	query(&f, &m);
	is_int((long long)f.answer.len, 12 + 255 + 4 + 28 + 11, "has an address");
	is_int((long long)names_count(f.names), 1, "and a slot");
	slot = names_add(f.names, longest);
	ok(policy_add(f.policy, longest, RULE_DENY, &err) == 0, "denied");
	query(&f, &m);
	ok(f.answer.len > 12 + 255 + 4 + 11 && f.answer.len <= DNS_ANSWER_MAX &&
		   (f.buf[3] & 15) == NXDOMAIN && f.answer.report,
	   "it has a reason, which is shortened");
	is_str(f.answer.name, longest, "its event");
	m = query_of("x", PTR);
	m.len = 12;
	for (int i = 31; i >= 0; i--) {
		struct address addr = names_v6(slot);
		char digit[3];

		(void)snprintf(digit, sizeof(digit), "\x01%x",
			       addr.b[i / 2] >> (i % 2 ? 0 : 4) & 15);
		add(&m, digit, 2);
	}
	add_name(&m, "ip6.arpa");
	add16(&m, PTR);
	add16(&m, 1);
	add_edns(&m, 0);
	query(&f, &m);
	is_int((long long)f.answer.len, 12 + 74 + 4 + 12 + 255 + 11, "the way back fits too");
	teardown(&f);
}

/* Queries as bytes after the ID; the answer's rcode with nothing but a header, or none at all. */
static void test_malformed(void)
{
	static const struct {
		const char *what;
		const char *bytes;
		size_t len;
		int rcode; /* -1: no answer */
	} cases[] = {
#define B(s) s, sizeof(s) - 1
		{ "nothing", B(""), -1 },
		{ "half a header", B("\1\0\0\1\0\0"), -1 },
		{ "an answer", B("\x81\x80\0\1\0\0\0\0\0\0\1a\0\0\1\0\1"), -1 },
		{ "no question", B("\1\0\0\0\0\0\0\0\0\0"), FORMERR },
		{ "two questions", B("\1\0\0\2\0\0\0\0\0\0\1a\0\0\1\0\1\1a\0\0\1\0\1"), FORMERR },
		{ "a notification", B("\x20\0\0\1\0\0\0\0\0\0\1a\0\0\6\0\1"), NOTIMP },
		{ "an update", B("\x28\0\0\1\0\0\0\0\0\0\1a\0\0\6\0\1"), NOTIMP },
		{ "a header that promises a question", B("\1\0\0\1\0\0\0\0\0\0"), FORMERR },
		{ "a name without end", B("\1\0\0\1\0\0\0\0\0\0\3abc"), FORMERR },
		{ "a label beyond the end",
		  B("\1\0\0\1\0\0\0\0\0\0\x3f"
		    "abc"),
		  FORMERR },
		{ "no type", B("\1\0\0\1\0\0\0\0\0\0\1a\0\0"), FORMERR },
		{ "half a class", B("\1\0\0\1\0\0\0\0\0\0\1a\0\0\1\0"), FORMERR },
		{ "a pointer to itself", B("\1\0\0\1\0\0\0\0\0\0\xc0\x0c\0\1\0\1"), FORMERR },
		{ "a pointer after a label", B("\1\0\0\1\0\0\0\0\0\0\1a\xc0\x0c\0\1\0\1"),
		  FORMERR },
		{ "a label of an odd kind", B("\1\0\0\1\0\0\0\0\0\0\x41\1\0\0\1\0\1"), FORMERR },
		{ "a record that is not there", B("\1\0\0\1\0\0\0\0\0\1\1a\0\0\1\0\1"), FORMERR },
		{ "half a record", B("\1\0\0\1\0\0\0\0\0\1\1a\0\0\1\0\1\0\0\x29\4\xd0\0\0\0\0\0"),
		  FORMERR },
		{ "a record's data beyond the end",
		  B("\1\0\0\1\0\0\0\0\0\1\1a\0\0\1\0\1\0\0\x29\4\xd0\0\0\0\0\0\1"), FORMERR },
		{ "EDNS twice",
		  B("\1\0\0\1\0\0\0\0\0\2\1a\0\0\1\0\1\0\0\x29\4\xd0\0\0\0\0\0\0\0\0\x29\4\xd0\0\0"
		    "\0\0\0\0"),
		  FORMERR },
		{ "EDNS with a name",
		  B("\1\0\0\1\0\0\0\0\0\1\1a\0\0\1\0\1\1a\0\0\x29\4\xd0\0\0\0\0\0\0"), FORMERR },
#undef B
	};
	struct fixture f;

	setup(&f);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct message m = { 0 };

		if (cases[i].len)
			add16(&m, 0xbeef);
		add(&m, cases[i].bytes, cases[i].len);
		query(&f, &m);
		is_int((long long)f.answer.len, cases[i].rcode < 0 ? 0 : 12, "%s", cases[i].what);
		if (cases[i].rcode >= 0)
			ok((f.buf[3] & 15) == cases[i].rcode && (f.buf[2] & 0x80) &&
				   !get16(f.buf + 4) && !get16(f.buf + 6) && !get16(f.buf + 10),
			   "its header");
		ok(!f.answer.report, "no event");
	}
	is_int((long long)names_count(f.names), 0, "no name either");
	teardown(&f);
}

static void test_odd(void)
{
	struct message m;
	struct fixture f;

	setup(&f);
	m = query_of("x", A);
	m.len = 12;
	add(&m,
	    "\x0c"
	    "evil\0example\3com\0\0\1\0\1",
	    22);
	query(&f, &m);
	ok((f.buf[3] & 15) == NXDOMAIN && f.answer.verdict.reason == NET_BAD_NAME,
	   "a NUL in a label is no name");
	is_str(f.answer.name, "evil?example.com", "and is shown as such");
	m = query_of("x", A);
	m.len = 12;
	add(&m,
	    "\x0b"
	    "example.com\0\0\1\0\1",
	    17);
	query(&f, &m);
	ok((f.buf[3] & 15) == NXDOMAIN && f.answer.verdict.reason == NET_BAD_NAME,
	   "a dot in a label is not two labels");
	m = query_of("x", A);
	m.len = 12;
	for (int i = 0; i < 127; i++)
		add(&m, "\1a", 2);
	add(&m, "\0\0\1\0\1", 5);
	query(&f, &m);
	ok(f.answer.len == m.len && (f.buf[3] & 15) == NXDOMAIN && f.answer.report,
	   "127 labels are a name");
	m.len = 12;
	for (int i = 0; i < 126; i++)
		add(&m, "\1a", 2);
	add(&m, "\2aa\0\0\1\0\1", 8);
	query(&f, &m);
	ok(f.answer.len == 12 && (f.buf[3] & 15) == FORMERR, "256 bytes of name are none");
	for (int first = 64; first < 256; first += 64) {
		m.len = 12;
		add(&m, (uint8_t[]){ (uint8_t)first }, 1);
		for (int i = 0; i < first; i++)
			add(&m, "a", 1);
		add(&m, "\0\0\1\0\1", 5);
		query(&f, &m);
		ok(f.answer.len == 12 && (f.buf[3] & 15) == FORMERR,
		   "%d does not begin a label, with as many bytes behind it neither", first);
	}
	m = query_of("example.com", A);
	m.b[m.len - 1] = 3; /* CHAOS */
	query(&f, &m);
	is_str(show(&f, &m), "5", "another class is refused");
	m = query_of("example.com", 251); /* IXFR brings a record of authority */
	m.b[9] = 1;
	add(&m, "\xc0\x0c\0\6\0\1\0\0\0\0\0\2\0\0", 14);
	query(&f, &m);
	ok((f.buf[3] & 15) == NOERROR && !get16(f.buf + 6),
	   "a record with a pointer is passed over");
	m = query_of("example.com", A);
	m.b[2] = 0;
	m.b[3] = 0x30; /* AD, CD */
	query(&f, &m);
	is_int(get16(f.buf + 2), 0x8090, "only what belongs there comes back of the flags");
	m = query_of("example.com", A);
	m.len = DNS_QUERY_MAX;
	query(&f, &m);
	ok(f.answer.len != 0, "bytes after the message do not matter");
	m.len = DNS_QUERY_MAX + 1;
	query(&f, &m);
	is_int((long long)f.answer.len, 0, "more than the limit is ignored");
	teardown(&f);
}

static void test_tcp(void)
{
	uint8_t buf[DNS_QUERY_MAX + 2] = { 0, 17 }, prefix[2];

	is_int(dns_tcp_next(buf, 0), 0, "TCP: nothing yet");
	is_int(dns_tcp_next(buf, 1), 0, "half a length");
	is_int(dns_tcp_next(buf, 18), 0, "one byte short");
	is_int(dns_tcp_next(buf, 19), 17, "whole");
	is_int(dns_tcp_next(buf, 100), 17, "with the next one behind it");
	buf[1] = 0;
	is_int(dns_tcp_next(buf, 2), -EMSGSIZE, "an empty one");
	dns_tcp_prefix(DNS_QUERY_MAX, buf);
	is_int(dns_tcp_next(buf, sizeof(buf)), DNS_QUERY_MAX, "the longest");
	dns_tcp_prefix(DNS_QUERY_MAX + 1, buf);
	is_int(dns_tcp_next(buf, 2), -EMSGSIZE, "a longer one");
	dns_tcp_prefix(0x1234, prefix);
	ok(prefix[0] == 0x12 && prefix[1] == 0x34, "the prefix of an answer");
}

int main(void)
{
	test_answers();
	test_reverse();
	test_flags();
	test_full();
	test_explain();
	test_edns();
	test_long();
	test_malformed();
	test_odd();
	test_tcp();
	return done();
}
