/* SPDX-License-Identifier: MIT */
/* Packets as the queue and the log bring them: their headers are whatever the sandbox wrote. */
#include "net/queue.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter/nfnetlink_log.h>
#include <linux/netfilter/nfnetlink_queue.h>

#include "lib/tap.h"
#include "os/linux/netlink.h"

/* A datagram from the kernel around a packet. */
struct datagram {
	uint8_t data[512] __attribute__((aligned(4)));
	size_t len;
};

static void wrap(struct datagram *ret, const void *packet, size_t len)
{
	const struct nfqnl_msg_packet_hdr hdr = { .packet_id = htonl(4711), .hook = 0 };
	const struct nfgenmsg header = { 0 };
	struct nl_out out = NL_OUT(ret->data);

	nl_begin(&out, NFNL_SUBSYS_QUEUE << 8 | NFQNL_MSG_PACKET, 0, &header, sizeof(header));
	nl_put(&out, NFQA_PACKET_HDR, &hdr, sizeof(hdr));
	nl_put_be32(&out, NFQA_IFINDEX_INDEV, 1);
	nl_put(&out, NFQA_PAYLOAD, packet, len);
	nl_end(&out);
	ret->len = out.len;
}

static void wrap_log(struct datagram *ret, const void *packet, size_t len)
{
	const struct nfgenmsg header = { 0 };
	struct nl_out out = NL_OUT(ret->data);

	nl_begin(&out, NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_PACKET, 0, &header, sizeof(header));
	nl_put_str(&out, NFULA_PREFIX, "");
	nl_put(&out, NFULA_PAYLOAD, packet, len);
	nl_end(&out);
	ret->len = out.len;
}

static const uint8_t syn4[40] = {
	0x45, 0,    0,    40,   0, 0, 0x40, 0, 64,  6,
	0,    0,    198,  18,   0, 2, 203,  0, 113, 7, /* IPv4 */
	0x9c, 0x40, 0x01, 0xbb, 0, 0, 0,    1, 0,   0,
	0,    0,    0x50, 0x02, 0, 0, 0,    0, 0,   0,
};
static const uint8_t syn6[60] = {
	0x60, 0,    0,    0,    0, 20, 6, 64,                               /* IPv6 */
	0xfd, 0x53, 0xb0, 0xc5, 0, 0,  0, 0,  0, 0, 0, 0, 0,    0,    0, 2, /* from */
	0x20, 0x01, 0x0d, 0xb8, 0, 0,  0, 0,  0, 0, 0, 0, 0,    0,    0, 7, /* to */
	0x9c, 0x40, 0x01, 0xbb, 0, 0,  0, 1,  0, 0, 0, 0, 0x50, 0x02, 0, 0, 0, 0, 0, 0,
};

static const char *text(const struct in6_addr *addr)
{
	static char buf[INET6_ADDRSTRLEN];

	return inet_ntop(AF_INET6, addr, buf, sizeof(buf));
}

static void check_good(const struct queue_packet *p, int family, const char *src, const char *dst)
{
	is_int(p->id, 4711, "... its number");
	is_int(p->family, family, "... its family");
	ok(p->syn && p->proto == IPPROTO_TCP, "... it opens a connection");
	is_str(text(&p->src), src, "... from");
	is_str(text(&p->dst), dst, "... to");
	ok(p->sport == 40000 && p->dport == 443, "... its ports");
}

static void test_good(void)
{
	struct queue_packet p = { 0 };
	uint8_t options[80] = { 0 };
	struct datagram d;
	uint32_t id = 0;

	wrap(&d, syn4, sizeof(syn4));
	is_int(queue_parse(d.data, d.len, &p, &id), 0, "IPv4");
	check_good(&p, AF_INET, "::ffff:198.18.0.2", "::ffff:203.0.113.7");
	wrap(&d, syn6, sizeof(syn6));
	is_int(queue_parse(d.data, d.len, &p, &id), 0, "IPv6");
	check_good(&p, AF_INET6, "fd53:b0c5::2", "2001:db8::7");
	/* Options that look like ports. */
	memcpy(options, syn4, 20);
	memset(options + 20, 0x11, 40);
	memcpy(options + 60, syn4 + 20, 20);
	options[0] = 0x4f;
	wrap(&d, options, sizeof(options));
	is_int(queue_parse(d.data, d.len, &p, &id), 0, "IPv4 with all the options it can have");
	check_good(&p, AF_INET, "::ffff:198.18.0.2", "::ffff:203.0.113.7");
}

/* One byte of a good packet made another. */
static const struct {
	const char *name;
	bool v6;
	size_t at;
	uint8_t value;
} bad[] = {
	{ "version 0", false, 0, 0x05 },
	{ "version 5", false, 0, 0x55 },
	{ "IPv6's version, IPv4's length", false, 0, 0x65 },
	{ "a header of no bytes", false, 0, 0x40 },
	{ "a header of 16 bytes", false, 0, 0x44 },
	{ "a header longer than the packet", false, 0, 0x4f },
	{ "a header that leaves 19 bytes", false, 0, 0x46 },
	{ "UDP", false, 9, 17 },
	{ "ICMP", false, 9, 1 },
	{ "no protocol", false, 9, 255 },
	{ "a later fragment", false, 7, 1 },
	{ "a fragment far behind", false, 6, 0x1f },
	{ "a reply to a first packet", false, 33, 0x12 },
	{ "an acknowledgement", false, 33, 0x10 },
	{ "no flags", false, 33, 0 },
	{ "a reset", false, 33, 0x04 },
	{ "IPv4's version, IPv6's length", true, 0, 0x40 },
	{ "IPv6 with options for each hop", true, 6, 0 },
	{ "IPv6 with a route", true, 6, 43 },
	{ "IPv6, a fragment", true, 6, 44 },
	{ "IPv6 without anything", true, 6, 59 },
	{ "IPv6, UDP", true, 6, 17 },
};

static void test_bad(void)
{
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		uint8_t packet[sizeof(syn6)];
		size_t len = bad[i].v6 ? sizeof(syn6) : sizeof(syn4);
		struct queue_packet p;
		struct datagram d;
		uint32_t id = 0;

		memcpy(packet, bad[i].v6 ? syn6 : syn4, len);
		packet[bad[i].at] = bad[i].value;
		wrap(&d, packet, len);
		is_int(queue_parse(d.data, d.len, &p, &id), -EPROTO, "%s: not understood",
		       bad[i].name);
		is_int(id, 4711, "... and it can be dropped");
	}
}

/* Cut off anywhere, as a packet and as a datagram. */
static void test_short(void)
{
	const struct {
		const uint8_t *data;
		size_t len;
	} packets[] = { { syn4, sizeof(syn4) }, { syn6, sizeof(syn6) } };
	int wrong = 0;

	for (size_t i = 0; i < ARRAY_LEN(packets); i++) {
		struct queue_packet p;
		struct datagram d;
		uint32_t id;

		for (size_t len = 0; len < packets[i].len; len++) {
			id = 0;
			wrap(&d, packets[i].data, len);
			wrong += queue_parse(d.data, d.len, &p, &id) != -EPROTO || id != 4711;
		}
		wrap(&d, packets[i].data, packets[i].len);
		for (size_t len = 0; len < d.len; len++) {
			/* Of its own size, so that a sanitizer sees a read behind it. */
			_cleanup_free_ uint8_t *copy = malloc(len ? len : 1);

			if (!copy)
				abort();
			memcpy(copy, d.data, len);
			wrong += queue_parse(copy, len, &p, &id) != -EBADMSG;
		}
	}
	is_int(wrong, 0, "a packet or a datagram cut off anywhere is not understood");
}

static void test_others(void)
{
	struct queue_packet p;
	struct datagram d;
	uint32_t id = 0;

	wrap_log(&d, syn4, sizeof(syn4));
	is_int(queue_parse(d.data, d.len, &p, &id), -EBADMSG,
	       "the log's message is not the queue's");
	wrap(&d, syn4, sizeof(syn4));
	is_int(log_parse(d.data, d.len, &p), -EBADMSG, "and not the other way round");
	((struct nlmsghdr *)d.data)->nlmsg_type = NLMSG_ERROR;
	is_int(queue_parse(d.data, d.len, &p, &id), -EBADMSG, "an error is no packet");
	is_int(queue_parse("", 0, &p, &id), -EBADMSG, "nothing is no packet");
	is_int(id, 0, "... and none of them has a number");
}

static void test_log(void)
{
	static const uint8_t udp4[28] = { 0x45, 0, 0, 28, 0, 0, 0,    0, 64, 17,   0, 0, 198, 18,
					  0,    2, 8, 8,  8, 8, 0xc0, 0, 0,  0x7b, 0, 8, 0,   0 };
	struct queue_packet p;
	struct datagram d;

	wrap_log(&d, udp4, sizeof(udp4));
	is_int(log_parse(d.data, d.len, &p), 0, "UDP in the log");
	ok(p.proto == IPPROTO_UDP && !p.syn && p.sport == 49152 && p.dport == 123 && p.id == 0,
	   "... its ports");
	is_str(text(&p.dst), "::ffff:8.8.8.8", "... its destination");
	wrap_log(&d, udp4, 24);
	is_int(log_parse(d.data, d.len, &p), 0, "... with nothing behind the ports");
	wrap_log(&d, udp4, 23);
	is_int(log_parse(d.data, d.len, &p), -EPROTO, "... cut off within them");
	wrap_log(&d, syn6, sizeof(syn6));
	is_int(log_parse(d.data, d.len, &p), 0, "TCP in the log");
	ok(p.syn && p.family == AF_INET6, "... opens a connection");
}

int main(void)
{
	test_good();
	test_bad();
	test_short();
	test_others();
	test_log();
	return done();
}
