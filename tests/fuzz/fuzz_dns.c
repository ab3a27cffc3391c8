/* SPDX-License-Identifier: MIT */
/*
 * One byte of settings, then a DNS query. Whatever comes back is a well-formed answer to that
 * question, and gives out only addresses of names that the policy allows.
 */
#include "net/dns.h"
#include "fuzz.h"

#include <string.h>

static unsigned get16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

static struct policy *make_policy(void)
{
	struct policy *policy = policy_new();
	struct err err = { 0 };

	check(policy && !policy_add(policy, "example.com:443", 0, &err) &&
	      !policy_add(policy, "*.a.example", 0, &err) &&
	      !policy_add(policy, "b.a.example", RULE_DENY, &err));
	return policy;
}

/* The length of the uncompressed name at p; every label within the limits. */
static size_t name_length(const uint8_t *p, size_t len)
{
	size_t at = 0;

	for (;;) {
		check(at < len);
		if (!p[at])
			return at + 1;
		check(p[at] <= 63);
		at += p[at] + 1u;
	}
}

/* The question's name as text, in lower case. */
static void name_text(const uint8_t *p, char ret[NAME_SIZE])
{
	size_t out = 0;

	for (; *p; p += *p + 1) {
		if (out)
			ret[out++] = '.';
		for (unsigned i = 1; i <= *p; i++)
			ret[out++] = (char)(p[i] >= 'A' && p[i] <= 'Z' ? p[i] + 32 : p[i]);
	}
	ret[out] = '\0';
}

static void check_address(const struct dns *dns, const uint8_t *question, unsigned type,
			  const uint8_t *record)
{
	struct address addr = address_v4(0), loopback = address_v4(0x7f000001);
	char name[NAME_SIZE];
	const char *at;

	check(get16(record + 10) == (type == 1 ? 4 : 16) && !(type == 28 && dns->no_ipv6));
	memcpy(addr.b + (type == 1 ? 12 : 0), record + 12, get16(record + 10));
	name_text(question, name);
	at = names_at(dns->names, &addr);
	if (at) {
		check(!strcmp(at, name) && policy_name(dns->policy, at).allow);
		return;
	}
	if (!strcmp(name, "localhost") || name_is_below(name, "localhost")) {
		if (type == 1)
			check(address_equal(&addr, &loopback));
		return;
	}
	check(dns->host_v4 && !strncmp(name, "host.", 5) &&
	      address_equal(&addr, type == 1 ? dns->host_v4 : dns->host_v6));
}

static void check_sections(const struct dns *dns, const uint8_t *buf, size_t len, size_t at)
{
	unsigned type = get16(buf + at - 4);

	if (get16(buf + 6)) {
		check(at + 12 <= len && get16(buf + at) == 0xc00c && get16(buf + at + 2) == type);
		check(!(buf[3] & 15) && (type == 1 || type == 28 || type == 12));
		if (type == 12)
			check(name_length(buf + at + 12, len - at - 12) == get16(buf + at + 10));
		else
			check_address(dns, buf + 12, type, buf + at);
		at += 12 + get16(buf + at + 10);
	}
	if (get16(buf + 10)) {
		check(at + 11 <= len && !buf[at] && get16(buf + at + 1) == 41);
		at += 11 + get16(buf + at + 9);
	}
	check(at == len);
}

static void check_answer(const struct dns *dns, const uint8_t *query, size_t size,
			 const uint8_t *buf, const struct dns_answer *answer)
{
	size_t at;

	for (const char *p = answer->name; answer->report && *p; p++)
		check(*p > ' ' && *p < 0x7f);
	check(!answer->report || (!answer->verdict.allow && answer->verdict.reason));
	if (!answer->len)
		return;
	check(answer->len >= 12 && answer->len <= DNS_ANSWER_MAX && size >= 12);
	check(get16(buf) == get16(query) && (buf[2] & 0x80) && !(buf[2] & 0x06) &&
	      !(buf[3] & 0x60));
	check(get16(buf + 4) <= 1 && get16(buf + 6) <= 1 && !get16(buf + 8) &&
	      get16(buf + 10) <= 1);
	if (!get16(buf + 4)) {
		check(answer->len == 12 && (buf[3] & 15) && !answer->report);
		return;
	}
	at = 12 + name_length(buf + 12, answer->len - 12) + 4;
	check(at <= answer->len && at <= size && !memcmp(buf + 12, query + 12, at - 12));
	check_sections(dns, buf, answer->len, at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct policy *policy;
	static struct names *names; /* kept: its memory is most of a run's time */
	static const struct address host_v6 = { { 0xfd, [15] = 9 } };
	struct address host_v4 = address_v4(0xc6120003);
	uint8_t first[DNS_ANSWER_MAX], second[DNS_ANSWER_MAX];
	struct dns_answer a, b;
	struct dns dns;
	size_t before;

	if (!size)
		return 0;
	if (!policy)
		policy = make_policy();
	if (!names || names_count(names) > 1000) {
		names_free(names);
		names = names_new();
		check(names);
	}
	before = names_count(names);
	dns = (struct dns){ .policy = policy, .names = names, .no_ipv6 = data[0] & 1 };
	if (data[0] & 2) {
		dns.host_v4 = &host_v4;
		dns.host_v6 = &host_v6;
	}
	dns_answer(&dns, data + 1, size - 1, first, &a);
	check_answer(&dns, data + 1, size - 1, first, &a);
	dns_answer(&dns, data + 1, size - 1, second, &b);
	check(a.len == b.len && a.report == b.report && !memcmp(first, second, a.len));
	check(names_count(names) <= before + 1);
	if (dns_tcp_next(data + 1, size - 1) > 0)
		check((size_t)dns_tcp_next(data + 1, size - 1) <= size - 3);
	return 0;
}
