/* SPDX-License-Identifier: MIT */
/*
 * DNS: read a query, decide, write the answer.
 *
 * Theory of operation: the query is hostile, every byte of it. The one question is copied into the
 * answer byte for byte (resolvers compare its letters' case), its name is turned into text in which
 * any byte that no host name has is a '?', and only that text is looked at. A name that the policy
 * does not know does not exist (NXDOMAIN, final for every resolver; REFUSED makes some of them wait
 * and retry). A lookup sends nothing anywhere: names are resolved when they are dialled.
 *
 * A pointer in the question's name, a second question, a record cut short: a format error with no
 * more than the header. What is no query at all is not answered.
 */
#include "net/dns.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"

enum { HEADER = 12, LABEL_MAX = 63, WIRE_NAME_MAX = 255, EDE_TEXT_MAX = 160, UDP_SIZE = 1232 };
enum { TYPE_A = 1, TYPE_PTR = 12, TYPE_AAAA = 28, TYPE_OPT = 41, CLASS_IN = 1 };
enum { RCODE_OK, RCODE_FORMAT, RCODE_SERVER, RCODE_NO_NAME, RCODE_NOT_IMPLEMENTED, RCODE_REFUSED };
enum { RCODE_BAD_VERSION = 16, EDE_OTHER = 0, EDE_BLOCKED = 15, OPTION_EDE = 15 };
enum { FLAG_QR = 0x8000, OPCODE = 0x7800, FLAG_RD = 0x0100, FLAG_RA = 0x0080, FLAG_CD = 0x0010 };

/* Header, longest question, and the larger of an AAAA record and a reason; a PTR record with its
 * longest name stands behind a question of a reverse name only. */
_Static_assert(HEADER + WIRE_NAME_MAX + 4 + 28 + 11 <= DNS_ANSWER_MAX, "an address fits");
_Static_assert(HEADER + WIRE_NAME_MAX + 4 + 11 + 6 + EDE_TEXT_MAX <= DNS_ANSWER_MAX,
	       "a reason fits");
_Static_assert(HEADER + 74 + 4 + 12 + WIRE_NAME_MAX + 11 <= DNS_ANSWER_MAX, "a reverse name fits");

struct query {
	const uint8_t *data;
	size_t len, at; /* at: what was read so far */
	uint16_t flags, type, class;
	size_t question_end;
	char name[NAME_SIZE]; /* lower case; '?' for odd bytes; "" for the root */
	bool edns, dnssec_ok;
	unsigned edns_version;
};

struct reply {
	unsigned rcode;
	const struct address *addr; /* an A or AAAA record */
	struct address own_addr;    /* where addr may point to */
	const char *pointer;        /* a PTR record */
	unsigned ede;
	char why[EDE_TEXT_MAX + 1]; /* goes out with EDNS; "" for none */
};

static unsigned get16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

/* Reads the question's name. False when it is no plain sequence of labels within the limits. */
static bool read_name(struct query *q)
{
	size_t start = q->at, out = 0;

	for (;;) {
		size_t label;

		if (q->at >= q->len)
			return false;
		label = q->data[q->at++];
		if (!label)
			break;
		if (label > LABEL_MAX || label >= q->len - q->at ||
		    q->at + label - start >= WIRE_NAME_MAX)
			return false;
		if (out)
			q->name[out++] = '.';
		for (size_t i = 0; i < label; i++) {
			int c = name_byte(q->data[q->at++]);

			q->name[out++] = (char)(c < 0 ? '?' : c);
		}
	}
	q->name[out] = '\0';
	return true;
}

/* Steps over a record's name; a pointer ends it and is not followed. */
static bool skip_name(struct query *q)
{
	while (q->at < q->len) {
		size_t label = q->data[q->at++];

		if (!label)
			return true;
		if (label >= 0xc0) {
			q->at++; /* the end is checked with what follows */
			return true;
		}
		if (label > LABEL_MAX)
			return false;
		q->at += label;
	}
	return false;
}

/* Steps over one record; takes what is needed from EDNS's. */
static bool read_record(struct query *q, bool additional)
{
	size_t name = q->at;
	const uint8_t *p;

	if (!skip_name(q) || q->len < q->at + 10)
		return false;
	p = q->data + q->at;
	q->at += 10 + get16(p + 8);
	if (q->at > q->len)
		return false;
	if (!additional || get16(p) != TYPE_OPT)
		return true;
	if (q->edns || q->data[name])
		return false; /* there is one, and it belongs to the root */
	q->edns = true;
	q->edns_version = p[5];
	q->dnssec_ok = p[6] & 0x80;
	return true;
}

/* An rcode. With RCODE_FORMAT and RCODE_NOT_IMPLEMENTED there is no question to repeat. */
static unsigned read_query(struct query *q)
{
	unsigned before, additional;

	if (q->flags & OPCODE)
		return RCODE_NOT_IMPLEMENTED;
	if (get16(q->data + 4) != 1)
		return RCODE_FORMAT;
	q->at = HEADER;
	if (!read_name(q) || q->len - q->at < 4)
		return RCODE_FORMAT;
	q->type = (uint16_t)get16(q->data + q->at);
	q->class = (uint16_t)get16(q->data + q->at + 2);
	q->at += 4;
	q->question_end = q->at;
	before = get16(q->data + 6) + get16(q->data + 8);
	additional = get16(q->data + 10);
	for (unsigned i = 0; i < before + additional; i++) {
		if (!read_record(q, i >= before))
			return RCODE_FORMAT;
	}
	if (q->edns && q->edns_version)
		return RCODE_BAD_VERSION;
	return q->class == CLASS_IN ? RCODE_OK : RCODE_REFUSED;
}

/* The address that belongs to the question's type, if there is one of it. */
static void give_address(const struct dns *dns, const struct query *q, struct reply *reply,
			 const struct address *v4, const struct address *v6)
{
	if (q->type == TYPE_A)
		reply->addr = v4;
	else if (q->type == TYPE_AAAA && !dns->no_ipv6)
		reply->addr = v6;
}

static bool answer_root(const struct dns *dns _unused_, const struct query *q,
			struct reply *reply _unused_, struct dns_answer *ret _unused_)
{
	return !q->name[0]; /* it exists and has no data */
}

/* Also for "127.1" and the like, which some resolvers would take for an address. */
static bool answer_bad_name(const struct dns *dns _unused_, const struct query *q,
			    struct reply *reply, struct dns_answer *ret)
{
	char name[NAME_SIZE];

	if (name_canonical(q->name, strlen(q->name), name))
		return false;
	reply->rcode = RCODE_NO_NAME;
	ret->report = true;
	ret->verdict.reason = NET_BAD_NAME;
	return true;
}

static bool answer_localhost(const struct dns *dns, const struct query *q, struct reply *reply,
			     struct dns_answer *ret _unused_)
{
	static const struct address v6 = { { [15] = 1 } };

	if (strcmp(q->name, "localhost") && !name_is_below(q->name, "localhost"))
		return false;
	reply->own_addr = address_v4(0x7f000001);
	give_address(dns, q, reply, &reply->own_addr, &v6);
	return true;
}

static bool answer_host(const struct dns *dns, const struct query *q, struct reply *reply,
			struct dns_answer *ret _unused_)
{
	if ((!dns->host_v4 && !dns->host_v6) || (strcmp(q->name, "host.wrapix.internal") &&
						 strcmp(q->name, "host.containers.internal")))
		return false;
	give_address(dns, q, reply, dns->host_v4, dns->host_v6);
	return true;
}

/* The address a whole reverse name stands for: "4.3.2.1.in-addr.arpa", 32 digits and "ip6.arpa". */
static bool reverse_address(const char *name, struct address *ret)
{
	static const char v4_zone[] = ".in-addr.arpa";
	size_t len = strlen(name), zone = sizeof(v4_zone) - 1;
	char text[ADDRESS_TEXT];

	if (len > zone && len - zone < sizeof(text) && !strcmp(name + len - zone, v4_zone)) {
		memcpy(text, name, len - zone);
		text[len - zone] = '\0';
		if (!address_parse(text, ret)) /* no colon in it: IPv4 */
			return false;
		*ret = address_v4(__builtin_bswap32(address_to_v4(ret)));
		return true;
	}
	if (len != 64 + strlen("ip6.arpa") || strcmp(name + 64, "ip6.arpa"))
		return false;
	memset(ret, 0, sizeof(*ret));
	for (unsigned i = 0; i < 32; i++) {
		static const char digits[] = "0123456789abcdef";
		const char *digit = strchr(digits, name[2 * i]);

		if (!digit || name[2 * i + 1] != '.')
			return false;
		ret->b[15 - i / 2] |= (uint8_t)((digit - digits) << (i % 2 ? 4 : 0));
	}
	return true;
}

/* Programs look up whom they talk to; that is no attempt at anything, so no event. */
static bool answer_reverse(const struct dns *dns, const struct query *q, struct reply *reply,
			   struct dns_answer *ret _unused_)
{
	static const struct address_guard guard;
	struct address addr;
	const char *name;

	if (!reverse_address(q->name, &addr))
		return false;
	name = names_at(dns->names, &addr);
	if (!name && address_guarded(&guard, &addr, NULL) == ADDRESS_LOOPBACK)
		name = "localhost";
	if (!name)
		reply->rcode = RCODE_NO_NAME;
	else if (q->type == TYPE_PTR)
		reply->pointer = name;
	return true;
}

/* The host of a service name: "_http._tcp.host" -> "host". */
static const char *service_host(const char *name)
{
	const char *dot;

	while (name[0] == '_' && (dot = strchr(name, '.')))
		name = dot + 1;
	return name;
}

/* Names that programs ask for by themselves, to find out about the network. */
static bool is_chatter(const char *name)
{
	static const char *const names[] = { "use-application-dns.net", "_dns.resolver.arpa",
					     "resolver.arpa", "ipv4only.arpa", "wpad" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (!strcmp(name, names[i]))
			return true;
	}
	return str_starts(name, "wpad.");
}

static void give_name(const struct dns *dns, const struct query *q, struct reply *reply,
		      struct dns_answer *ret)
{
	int slot;

	if (q->type != TYPE_A && (q->type != TYPE_AAAA || dns->no_ipv6))
		return;
	slot = names_add(dns->names, q->name);
	if (slot < 0) {
		reply->rcode = RCODE_SERVER;
		reply->ede = EDE_OTHER;
		(void)snprintf(reply->why, sizeof(reply->why),
			       "wrapix: too many names were asked for");
		ret->report = true;
		ret->verdict = (struct verdict){ false, NET_NAMES_FULL, NULL };
		return;
	}
	reply->own_addr = q->type == TYPE_A ? names_v4(slot) : names_v6(slot);
	reply->addr = &reply->own_addr;
}

static bool answer_policy(const struct dns *dns, const struct query *q, struct reply *reply,
			  struct dns_answer *ret)
{
	const char *host = service_host(q->name);

	ret->verdict = policy_name(dns->policy, q->name);
	if (ret->verdict.allow) {
		give_name(dns, q, reply, ret);
		return true;
	}
	if (policy_name(dns->policy, host).allow)
		return true; /* a service of an allowed host: no data, no event */
	ret->report = !is_chatter(q->name);
	/* They have half of the table: the other one is for names that are allowed. */
	if (dns->explain && ret->report && names_count(dns->names) < NAMES_MAX / 2) {
		struct verdict denied = ret->verdict;

		give_name(dns, q, reply, ret);
		ret->verdict = denied;
		return true;
	}
	reply->rcode = RCODE_NO_NAME;
	reply->ede = EDE_BLOCKED;
	if (ret->verdict.rule)
		(void)snprintf(reply->why, sizeof(reply->why), "wrapix: denied by rule %.120s",
			       ret->verdict.rule->text);
	else
		(void)snprintf(reply->why, sizeof(reply->why), "wrapix: no rule allows this name");
	memmove(ret->name, ret->name + (host - q->name), strlen(host) + 1);
	return true;
}

/* The first that has an answer gives it. */
static bool (*const answers[])(const struct dns *, const struct query *, struct reply *,
			       struct dns_answer *) = {
	answer_root, answer_bad_name, answer_localhost, answer_host, answer_reverse, answer_policy,
};

/* The answer as it grows. What does not fit is not written; the assertions above say that all does. */
struct out {
	uint8_t *buf;
	size_t len;
};

static void put(struct out *out, const void *data, size_t len)
{
	if (len > DNS_ANSWER_MAX - out->len)
		return;
	memcpy(out->buf + out->len, data, len);
	out->len += len;
}

static void put16(struct out *out, unsigned n)
{
	put(out, (uint8_t[]){ (uint8_t)(n >> 8), (uint8_t)n }, 2);
}

/* A record of the question's name up to its data's length. */
static void put_record(struct out *out, unsigned type, size_t len)
{
	put16(out, 0xc000 | HEADER);
	put16(out, type);
	put16(out, CLASS_IN);
	put16(out, 0);
	put16(out, DNS_TTL);
	put16(out, (unsigned)len);
}

static void put_pointer(struct out *out, const char *name)
{
	put_record(out, TYPE_PTR, strlen(name) + 2);
	while (*name) {
		uint8_t len = (uint8_t)strcspn(name, ".");

		put(out, &len, 1);
		put(out, name, len);
		name += len + (name[len] == '.');
	}
	put(out, "", 1);
}

static void put_address(struct out *out, const struct address *addr, unsigned type)
{
	size_t len = type == TYPE_A ? 4 : 16;

	put_record(out, type, len);
	put(out, addr->b + 16 - len, len);
}

static void put_edns(struct out *out, const struct query *q, const struct reply *reply)
{
	size_t why = strlen(reply->why);

	put(out, "", 1);
	put16(out, TYPE_OPT);
	put16(out, UDP_SIZE);
	put16(out, reply->rcode >> 4 << 8); /* its upper bits, version 0 */
	put16(out, q->dnssec_ok ? 0x8000 : 0);
	put16(out, why ? (unsigned)why + 6 : 0);
	if (!why)
		return;
	put16(out, OPTION_EDE);
	put16(out, (unsigned)why + 2);
	put16(out, reply->ede);
	put(out, reply->why, why);
}

static size_t write_answer(const struct query *q, const struct reply *reply, uint8_t *buf)
{
	unsigned kept = q->flags & (OPCODE | FLAG_RD | FLAG_CD);
	bool record = reply->addr || reply->pointer;
	struct out out = { .buf = buf };

	put(&out, q->data, 2);
	put16(&out, kept | FLAG_QR | FLAG_RA | (reply->rcode & 15));
	put16(&out, q->question_end ? 1 : 0);
	put16(&out, record ? 1 : 0);
	put16(&out, 0);
	put16(&out, q->question_end && q->edns ? 1 : 0);
	if (!q->question_end)
		return out.len;
	put(&out, q->data + HEADER, q->question_end - HEADER);
	if (reply->addr)
		put_address(&out, reply->addr, q->type);
	if (reply->pointer)
		put_pointer(&out, reply->pointer);
	if (q->edns)
		put_edns(&out, q, reply);
	return out.len;
}

void dns_answer(const struct dns *dns, const uint8_t *query, size_t len,
		uint8_t buf[DNS_ANSWER_MAX], struct dns_answer *ret)
{
	struct query q = { .data = query, .len = len };
	struct reply reply = { 0 };

	memset(ret, 0, sizeof(*ret));
	if (len < HEADER || len > DNS_QUERY_MAX)
		return;
	q.flags = (uint16_t)get16(query + 2);
	if (q.flags & FLAG_QR)
		return; /* an answer; two responders must not talk to each other for ever */
	reply.rcode = read_query(&q);
	memcpy(ret->name, q.name, sizeof(q.name));
	if (reply.rcode == RCODE_FORMAT)
		q.question_end = 0;
	for (size_t i = 0; reply.rcode == RCODE_OK && i < ARRAY_LEN(answers); i++) {
		if (answers[i](dns, &q, &reply, ret))
			break;
	}
	ret->len = write_answer(&q, &reply, buf);
}

int dns_tcp_next(const uint8_t *buf, size_t len)
{
	size_t query;

	if (len < 2)
		return 0;
	query = get16(buf);
	if (!query || query > DNS_QUERY_MAX)
		return -EMSGSIZE;
	return len - 2 >= query ? (int)query : 0;
}

void dns_tcp_prefix(size_t len, uint8_t ret[2])
{
	ret[0] = (uint8_t)(len >> 8);
	ret[1] = (uint8_t)len;
}
