/* SPDX-License-Identifier: MIT */
/* Netlink messages: what is built can be read, what is too long is refused, what lies is not believed. */
#include "os/linux/netlink.h"

#include <errno.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <sys/socket.h>

#include "lib/tap.h"
#include "net/nft_rules.h"

static void test_build(void)
{
	static const uint8_t want[] = {
		44,  0,   0,   0,    0x34, 0x12, 5,   3,   1,    0,    0, 0, 0,
		0,   0,   0,                                                 /* header */
		'h', 'd', 'r', 0,                                            /* the family's */
		9,   0,   7,   0,    'n',  'a',  'm', 'e', 0,    0,    0, 0, /* "name" and padding */
		12,  0,   8,   0x80, 6,    0,    9,   0,   0xab, 0xcd, 0, 0, /* 0xabcd in a nest */
	};
	uint8_t buffer[64] __attribute__((aligned(4)));
	struct nl_out out = NL_OUT(buffer);
	size_t nest;

	memset(buffer, 0xee, sizeof(buffer)); /* so that missing zeroes show */
	is_int(nl_begin(&out, 0x1234, 0x304, "hdr", 3), 1, "the first message is number 1");
	nl_put_str(&out, 7, "name");
	nest = nl_nest(&out, 8);
	nl_put_be16(&out, 9, 0xabcd);
	nl_unnest(&out, nest);
	nl_end(&out);
	is_int(out.len, sizeof(want), "its length");
	ok(memcmp(buffer, want, sizeof(want)) == 0, "its bytes");
	nl_want_ack(&out);
	is_int(buffer[6], 5 | NLM_F_ACK, "an answer is asked for");
	is_int(nl_begin(&out, 1, 0, NULL, 0), 2, "the second is number 2");
	nl_end(&out);
	is_int(buffer[sizeof(want)], NLMSG_HDRLEN, "... and has its own length");
}

static void test_read(void)
{
	uint8_t buffer[128] __attribute__((aligned(4)));
	struct nl_out out = NL_OUT(buffer);
	struct nl_message message;
	struct nl_attr attr;
	uint32_t number;
	struct nl_in in;

	nl_begin(&out, 5, NLM_F_ACK, "head", 4);
	nl_put_u32(&out, 1, 77);
	nl_put_u8(&out, 2, 9);
	nl_put_be64(&out, 3, 1);
	nl_end(&out);
	nl_begin(&out, 6, 0, NULL, 0);
	nl_end(&out);
	in = (struct nl_in){ buffer, out.len };
	ok(nl_next_message(&in, &message) && message.type == 5 && message.seq == 1 &&
		   (message.flags & NLM_F_ACK),
	   "a message");
	ok(nl_skip(&message.body, 4) && !nl_skip(&message.body, 1000), "its family's header");
	ok(nl_next_attr(&message.body, &attr) && attr.type == 1 &&
		   nl_get(&attr, &number, sizeof(number)) && number == 77,
	   "a number");
	ok(nl_next_attr(&message.body, &attr) && attr.type == 2 && attr.value.len == 1, "a byte");
	ok(!nl_get(&attr, &number, sizeof(number)), "... is no number");
	ok(nl_next_attr(&message.body, &attr) && attr.value.len == 8 && attr.value.data[7] == 1,
	   "a long one, big end first");
	ok(!nl_next_attr(&message.body, &attr), "no more attributes");
	ok(nl_next_message(&in, &message) && message.type == 6 && message.body.len == 0,
	   "an empty message");
	ok(!nl_next_message(&in, &message), "no more messages");
}

/* At every size that is too small: refused, and not a byte behind the end. */
static void test_overflow(void)
{
	uint8_t buffer[64] __attribute__((aligned(4)));
	int whole = 0, spilt = 0, accepted = 0;

	for (size_t size = 0; size <= 48; size++) {
		struct nl_out out = { .data = buffer, .size = size };
		size_t nest;

		memset(buffer, 0xee, sizeof(buffer));
		nl_begin(&out, 1, 0, "head", 4);
		nest = nl_nest(&out, 1);
		nl_put_u32(&out, 1, 1);
		nl_put_str(&out, 2, "text");
		nl_unnest(&out, nest);
		nl_end(&out);
		nl_want_ack(&out);
		for (size_t i = size; i < sizeof(buffer); i++)
			spilt += buffer[i] != 0xee;
		whole += !out.overflow;
		accepted += out.overflow && nl_send(-1, &out) != -EMSGSIZE;
	}
	is_int(spilt, 0, "nothing is written behind the end");
	is_int(whole, 5, "44 bytes and more are enough");
	is_int(accepted, 0, "less is refused when it is to be sent");
}

static void test_too_long(void)
{
	static uint8_t buffer[1 << 18] __attribute__((aligned(4)));
	static const uint8_t data[70000];
	struct nl_out out = NL_OUT(buffer);
	size_t nest;

	nl_begin(&out, 1, 0, NULL, 0);
	nl_put(&out, 1, data, UINT16_MAX - 4);
	ok(!out.overflow, "an attribute of 65535 bytes");
	nl_put(&out, 1, data, UINT16_MAX - 3);
	ok(out.overflow, "one byte more is refused");
	out = NL_OUT(buffer);
	nl_begin(&out, 1, 0, NULL, 0);
	nest = nl_nest(&out, 1);
	nl_put(&out, 1, data, 60000);
	nl_put(&out, 1, data, 6000);
	nl_unnest(&out, nest);
	ok(out.overflow, "and so is a nest that grows beyond");
	out = NL_OUT(buffer);
	nl_put(&out, 1, data, SIZE_MAX);
	ok(out.overflow, "and a length that wraps around");
}

static void test_lies(void)
{
	static const struct {
		const char *name;
		uint32_t length, given;
	} messages[] = {
		{ "no length", 0, 20 },           { "less than a header", 15, 20 },
		{ "more than there is", 21, 20 }, { "4 GiB", UINT32_MAX, 20 },
		{ "half a header", 16, 12 },      { "nothing", 16, 0 },
	};
	static const struct {
		const char *name;
		uint16_t length;
		size_t given;
	} attrs[] = {
		{ "no length", 0, 8 },          { "less than a header", 3, 8 },
		{ "more than there is", 9, 8 }, { "64 KiB", UINT16_MAX, 8 },
		{ "half a header", 4, 2 },
	};

	for (size_t i = 0; i < ARRAY_LEN(messages); i++) {
		struct nlmsghdr header[2] = { { .nlmsg_len = messages[i].length } };
		struct nl_in in = { (uint8_t *)header, messages[i].given };
		struct nl_message message;

		ok(!nl_next_message(&in, &message), "a message that says %s", messages[i].name);
	}
	for (size_t i = 0; i < ARRAY_LEN(attrs); i++) {
		struct nlattr header[2] = { { .nla_len = attrs[i].length } };
		struct nl_in in = { (uint8_t *)header, attrs[i].given };
		struct nl_attr attr;

		ok(!nl_next_attr(&in, &attr), "an attribute that says %s", attrs[i].name);
	}
}

/* A datagram of a socket that is no netlink socket is nobody's answer. */
static void test_sender(void)
{
	uint8_t buffer[64];
	struct nl_in in;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds) < 0) {
		ok(false, "a pair of sockets");
		return;
	}
	is_int(nl_receive(fds[0], buffer, sizeof(buffer), &in), -EAGAIN, "nothing to read");
	for (int i = 0; i < 3; i++)
		is_int(send(fds[1], "x", 1, MSG_DONTWAIT), 1, "sent");
	is_int(nl_receive(fds[0], buffer, sizeof(buffer), &in), -EAGAIN, "passed over");
	close(fds[0]);
	close(fds[1]);
}

static int count_rules(const struct nl_out *out, bool *ret_whole)
{
	struct nl_in in = { out->data, out->len };
	struct nl_message message;
	int n = 0;

	while (nl_next_message(&in, &message)) {
		struct nl_attr attr;

		nl_skip(&message.body, sizeof(struct nfgenmsg));
		n += message.type == (NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWRULE);
		while (nl_next_attr(&message.body, &attr))
			;
		if (message.body.len)
			*ret_whole = false;
	}
	if (in.len)
		*ret_whole = false;
	return n;
}

static void test_ruleset(void)
{
	static uint8_t buffer[NFT_BATCH_BYTES] __attribute__((aligned(4)));
	struct nft_range direct[NFT_RANGES_MAX];
	static const struct {
		const char *name;
		struct nft_ruleset set;
		int rules;
	} cases[] = {
		{ "queue", { TIER_QUEUE, NFT_BY_QUEUE, true, false, NULL, 0 }, 17 },
		{ "target", { TIER_QUEUE, NFT_BY_TARGET, true, true, NULL, 0 }, 17 },
		{ "no log", { TIER_QUEUE, NFT_BY_QUEUE, false, false, NULL, 0 }, 16 },
		{ "static", { TIER_STATIC, NFT_BY_QUEUE, true, false, NULL, 0 }, 13 },
		{ "ranges", { TIER_STATIC, NFT_BY_QUEUE, true, false, NULL, NFT_RANGES_MAX }, 77 },
		{ "more", { TIER_STATIC, NFT_BY_QUEUE, true, false, NULL, 5000 }, 12 },
	};

	for (size_t i = 0; i < ARRAY_LEN(direct); i++)
		direct[i] = (struct nft_range){ .addr = NSCONF_OWN_V6, 127, 1, 2 };
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct nft_ruleset set = cases[i].set;
		struct nl_out out = NL_OUT(buffer);
		bool whole = true;
		uint32_t last;

		set.direct = direct;
		last = nft_put_ruleset(&out, &set);
		ok(!out.overflow, "rules, %s: %zu bytes are enough", cases[i].name, out.len);
		is_int(count_rules(&out, &whole), cases[i].rules, "... %d of them", cases[i].rules);
		ok(whole, "... each of them whole");
		is_int(last, out.seq - 1, "... answered before the end of the batch");
	}
}

int main(void)
{
	test_build();
	test_read();
	test_overflow();
	test_too_long();
	test_lies();
	test_sender();
	test_ruleset();
	return done();
}
