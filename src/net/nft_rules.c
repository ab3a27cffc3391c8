/* SPDX-License-Identifier: MIT */
/*
 * The rules of a filtered sandbox's network namespace, as data, and their translation to netlink.
 *
 * All routes lead to lo (net/nsconf.c), so every packet of the sandbox comes back in through
 * 'prerouting', where these rules stand:
 *
 *   pre   packets of open connections pass at once; so does what goes to an address of the
 *         sandbox's own, or to port 53, where we listen; a first packet of TCP waits in the queue
 *         for our verdict (net/queue.c); UDP is refused, with a line in the log
 *   pre2  turns the verdict, which is a mark, into an answer. What has none is refused: nobody
 *         reads the queue any more, or nobody listens
 *
 * "Transparent proxying" hands a packet for any address and port to the one listener that asked for
 * it, and getsockname() of what it accepts is where the sandbox wanted to go. It needs no conntrack.
 * Refusals by TCP reset are instant for both families. An ICMP error for a first packet of IPv6 is
 * instant only because it comes after the queue: inside of connect() it would be taken for a passing
 * trouble until the first packet is sent again, a second later.
 *
 * Nothing here is trusted: the rules decide how a refusal looks, never whether there is one. A
 * sandbox that has the right to remove them has cut itself off.
 */
#include "net/nft_rules.h"

#include <arpa/inet.h>
#include <string.h>

#include "net/queue.h"
#include "os/linux/packets.h"

#define LOG_PER_SECOND 20
#define STATEMENTS_MAX 8

enum { FLAG_SYN = 0x02, FLAG_ACK = 0x10 };
enum { SPORT = 0, DPORT = 2, TCP_FLAGS = 13, V4_TO = 16, V6_TO = 24 };

enum kind {
	END,
	FAMILY,
	PROTO,
	MARK,
	NETWORK,
	TRANSPORT,
	VERDICT,
	TPROXY,
	REJECT,
	LIMIT,
	LOG,
	QUEUE,
	RANGES
};

/* One statement of a rule: a comparison that ends the rule when it does not hold, or an act. */
struct statement {
	enum kind kind;
	uint8_t op; /* enum nft_cmp_ops */
	uint8_t offset, len;
	uint8_t mask; /* for the last byte; 0: none */
	uint8_t value[16];
	int number;        /* MARK; VERDICT: which; REJECT: by what */
	uint8_t code;      /* REJECT: ICMP's */
	const char *chain; /* VERDICT: that it jumps to */
};

enum { IN_QUEUE = 1 << TIER_QUEUE, IN_STATIC = 1 << TIER_STATIC, IN_BOTH = IN_QUEUE | IN_STATIC };

struct rule {
	unsigned tiers;
	const char *chain;
	struct statement statements[STATEMENTS_MAX];
};

#define S(...)              \
	(struct statement)  \
	{                   \
		__VA_ARGS__ \
	}
#define FAMILY_IS(f) S(FAMILY, NFT_CMP_EQ, .len = 1, .value = { NFPROTO_##f })
#define TCP S(PROTO, NFT_CMP_EQ, .len = 1, .value = { IPPROTO_TCP })
#define UDP S(PROTO, NFT_CMP_EQ, .len = 1, .value = { IPPROTO_UDP })
#define NOT_TCP S(PROTO, NFT_CMP_NEQ, .len = 1, .value = { IPPROTO_TCP })
#define NOT_FIRST S(TRANSPORT, NFT_CMP_NEQ, TCP_FLAGS, 1, FLAG_SYN | FLAG_ACK, { FLAG_SYN })
#define PORT(side, op, port) S(TRANSPORT, NFT_CMP_##op, side, 2, 0, { (port) >> 8, (port)&0xff })
#define TO(offset, len, ...) S(NETWORK, NFT_CMP_EQ, offset, len, 0, { __VA_ARGS__ })
#define MARK_IS(m) S(MARK, NFT_CMP_EQ, .number = (m))
#define ACCEPT S(VERDICT, .number = NF_ACCEPT)
#define JUMP(to) S(VERDICT, .number = NFT_JUMP, .chain = (to))
#define RESET S(REJECT, .number = NFT_REJECT_TCP_RST)
#define UNREACHABLE(c) S(REJECT, .number = NFT_REJECT_ICMPX_UNREACH, .code = NFT_REJECT_ICMPX_##c)

static const struct rule rules[] = {
	{ IN_BOTH, "own", { FAMILY_IS(IPV4), TO(V4_TO, 1, 127), ACCEPT } },
	{ IN_BOTH, "own", { FAMILY_IS(IPV4), TO(V4_TO, 4, 198, 18, 0, 2), ACCEPT } },
	{ IN_BOTH, "own", { FAMILY_IS(IPV6), TO(V6_TO, 16, [15] = 1), ACCEPT } },
	{ IN_BOTH,
	  "own",
	  { FAMILY_IS(IPV6), TO(V6_TO, 16, 0xfd, 0x53, 0xb0, 0xc5, [15] = 2), ACCEPT } },
	{ IN_BOTH, "own", { PORT(DPORT, EQ, NSCONF_DNS_PORT), ACCEPT } },

	{ IN_BOTH, "pre", { TCP, NOT_FIRST, ACCEPT } },
	{ IN_BOTH, "pre", { JUMP("own") } },
	{ IN_QUEUE, "pre", { TCP, S(QUEUE) } },
	{ IN_STATIC, "pre", { S(RANGES) } },
	{ IN_STATIC, "pre", { TCP, S(LIMIT), S(LOG) } },
	{ IN_STATIC, "pre", { TCP, RESET } },
	/* Answers of our DNS come from port 53, and go to whatever address was bound inside. */
	{ IN_BOTH, "pre", { UDP, PORT(SPORT, NEQ, NSCONF_DNS_PORT), S(LIMIT), S(LOG) } },
	{ IN_BOTH, "pre", { UDP, PORT(SPORT, NEQ, NSCONF_DNS_PORT), UNREACHABLE(PORT_UNREACH) } },

	{ IN_QUEUE, "pre2", { NOT_TCP, ACCEPT } },
	{ IN_QUEUE, "pre2", { NOT_FIRST, ACCEPT } },
	{ IN_QUEUE, "pre2", { JUMP("own") } },
	{ IN_QUEUE, "pre2", { TCP, MARK_IS(QUEUE_PASS), S(TPROXY), ACCEPT } },
	{ IN_QUEUE, "pre2", { TCP, MARK_IS(QUEUE_HOST_UNREACHABLE), UNREACHABLE(HOST_UNREACH) } },
	{ IN_QUEUE, "pre2", { TCP, MARK_IS(QUEUE_NO_ROUTE), UNREACHABLE(NO_ROUTE) } },
	{ IN_QUEUE, "pre2", { TCP, RESET } },
};

static const struct {
	unsigned tiers;
	const char *name;
	int priority; /* 0: no hook, only jumped to */
} chains[] = {
	{ IN_BOTH, "own", 0 },
	{ IN_BOTH, "pre", -150 },
	{ IN_QUEUE, "pre2", -140 },
};

/* --- statements --- */

/* An expression's name, and its attributes until close_expr(). */
static size_t open_expr(struct nl_out *out, const char *name, size_t *ret_elem)
{
	*ret_elem = nl_nest(out, NFTA_LIST_ELEM);
	nl_put_str(out, NFTA_EXPR_NAME, name);
	return nl_nest(out, NFTA_EXPR_DATA);
}

static void close_expr(struct nl_out *out, size_t elem, size_t data)
{
	nl_unnest(out, data);
	nl_unnest(out, elem);
}

static void put_value(struct nl_out *out, uint16_t type, const void *value, size_t len)
{
	size_t nest = nl_nest(out, type);

	nl_put(out, NFTA_DATA_VALUE, value, len);
	nl_unnest(out, nest);
}

static void put_meta(struct nl_out *out, uint32_t key)
{
	size_t elem, data = open_expr(out, "meta", &elem);

	nl_put_be32(out, NFTA_META_KEY, key);
	nl_put_be32(out, NFTA_META_DREG, NFT_REG_1);
	close_expr(out, elem, data);
}

static void put_payload(struct nl_out *out, uint32_t base, const struct statement *s)
{
	size_t elem, data = open_expr(out, "payload", &elem);

	nl_put_be32(out, NFTA_PAYLOAD_DREG, NFT_REG_1);
	nl_put_be32(out, NFTA_PAYLOAD_BASE, base);
	nl_put_be32(out, NFTA_PAYLOAD_OFFSET, s->offset);
	nl_put_be32(out, NFTA_PAYLOAD_LEN, s->len);
	close_expr(out, elem, data);
}

static void put_mask(struct nl_out *out, const struct statement *s)
{
	uint8_t mask[sizeof(s->value)], none[sizeof(s->value)] = { 0 };
	size_t elem, data = open_expr(out, "bitwise", &elem);

	memset(mask, 0xff, sizeof(mask));
	mask[s->len - 1] = s->mask;
	nl_put_be32(out, NFTA_BITWISE_SREG, NFT_REG_1);
	nl_put_be32(out, NFTA_BITWISE_DREG, NFT_REG_1);
	nl_put_be32(out, NFTA_BITWISE_LEN, s->len);
	put_value(out, NFTA_BITWISE_MASK, mask, s->len);
	put_value(out, NFTA_BITWISE_XOR, none, s->len);
	close_expr(out, elem, data);
}

static void put_compare(struct nl_out *out, uint32_t op, const void *value, size_t len)
{
	size_t elem, data = open_expr(out, "cmp", &elem);

	nl_put_be32(out, NFTA_CMP_SREG, NFT_REG_1);
	nl_put_be32(out, NFTA_CMP_OP, op);
	put_value(out, NFTA_CMP_DATA, value, len);
	close_expr(out, elem, data);
}

static void put_verdict(struct nl_out *out, const struct statement *s)
{
	size_t elem, data = open_expr(out, "immediate", &elem), value, verdict;

	nl_put_be32(out, NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
	value = nl_nest(out, NFTA_IMMEDIATE_DATA);
	verdict = nl_nest(out, NFTA_DATA_VERDICT);
	nl_put_be32(out, NFTA_VERDICT_CODE, (uint32_t)s->number);
	if (s->chain)
		nl_put_str(out, NFTA_VERDICT_CHAIN, s->chain);
	nl_unnest(out, verdict);
	nl_unnest(out, value);
	close_expr(out, elem, data);
}

/* To the relay's port, on the interface's own address: there the listener is found. */
static void put_tproxy(struct nl_out *out)
{
	const uint16_t port = htons(NSCONF_RELAY_PORT);
	size_t elem, data = open_expr(out, "immediate", &elem);

	nl_put_be32(out, NFTA_IMMEDIATE_DREG, NFT_REG_1);
	put_value(out, NFTA_IMMEDIATE_DATA, &port, sizeof(port));
	close_expr(out, elem, data);
	data = open_expr(out, "tproxy", &elem);
	nl_put_be32(out, NFTA_TPROXY_FAMILY, NFPROTO_UNSPEC);
	nl_put_be32(out, NFTA_TPROXY_REG_PORT, NFT_REG_1);
	close_expr(out, elem, data);
}

static void put_reject(struct nl_out *out, const struct statement *s)
{
	size_t elem, data = open_expr(out, "reject", &elem);

	nl_put_be32(out, NFTA_REJECT_TYPE, (uint32_t)s->number);
	nl_put_u8(out, NFTA_REJECT_ICMP_CODE, s->code);
	close_expr(out, elem, data);
}

static void put_limit(struct nl_out *out)
{
	size_t elem, data = open_expr(out, "limit", &elem);

	nl_put_be64(out, NFTA_LIMIT_RATE, LOG_PER_SECOND);
	nl_put_be64(out, NFTA_LIMIT_UNIT, 1); /* second */
	nl_put_be32(out, NFTA_LIMIT_BURST, LOG_PER_SECOND);
	nl_put_be32(out, NFTA_LIMIT_TYPE, NFT_LIMIT_PKTS);
	close_expr(out, elem, data);
}

static void put_log(struct nl_out *out)
{
	size_t elem, data = open_expr(out, "log", &elem);

	nl_put_be16(out, NFTA_LOG_GROUP, LOG_GROUP);
	close_expr(out, elem, data);
}

/* With 'bypass': a queue that nobody reads lets packets go on to the next chain. */
static void put_queue(struct nl_out *out, enum nft_queue_by by)
{
	/* Its size is rounded up, as iptables has it. */
	const struct xt_NFQ_info_v3 info[] = {
		{ .queuenum = QUEUE_NUM, .queues_total = 1, .flags = NFQ_FLAG_BYPASS },
		{ 0 },
	};
	size_t elem, data = open_expr(out, by == NFT_BY_QUEUE ? "queue" : "target", &elem);

	if (by == NFT_BY_QUEUE) {
		nl_put_be16(out, NFTA_QUEUE_NUM, QUEUE_NUM);
		nl_put_be16(out, NFTA_QUEUE_TOTAL, 1);
		nl_put_be16(out, NFTA_QUEUE_FLAGS, NFT_QUEUE_FLAG_BYPASS);
	} else {
		nl_put_str(out, NFTA_TARGET_NAME, "NFQUEUE");
		nl_put_be32(out, NFTA_TARGET_REV, 3);
		nl_put(out, NFTA_TARGET_INFO, info, (sizeof(info[0]) + 7) / 8 * 8);
	}
	close_expr(out, elem, data);
}

static void put_match(struct nl_out *out, const struct statement *s)
{
	const uint32_t mark = (uint32_t)s->number;

	if (s->kind == FAMILY || s->kind == PROTO)
		put_meta(out, s->kind == FAMILY ? NFT_META_NFPROTO : NFT_META_L4PROTO);
	else if (s->kind == MARK)
		put_meta(out, NFT_META_MARK);
	else
		put_payload(out,
			    s->kind == NETWORK ? NFT_PAYLOAD_NETWORK_HEADER
					       : NFT_PAYLOAD_TRANSPORT_HEADER,
			    s);
	if (s->mask)
		put_mask(out, s);
	if (s->kind == MARK)
		put_compare(out, s->op, &mark, sizeof(mark));
	else
		put_compare(out, s->op, s->value, s->len);
}

static void put_statement(struct nl_out *out, const struct nft_ruleset *set,
			  const struct statement *s)
{
	switch (s->kind) {
	case END:
		break;
	case FAMILY:
	case PROTO:
	case MARK:
	case NETWORK:
	case TRANSPORT:
		put_match(out, s);
		break;
	case VERDICT:
		put_verdict(out, s);
		break;
	case TPROXY:
		put_tproxy(out);
		break;
	case REJECT:
		put_reject(out, s);
		break;
	case LIMIT:
		put_limit(out);
		break;
	case LOG:
		put_log(out);
		break;
	case QUEUE:
		put_queue(out, set->queue_by);
		break;
	case RANGES: /* not a statement but rules, see put_ranges() */
		break;
	}
}

/* --- messages --- */

static void begin(struct nl_out *out, int type, int flags)
{
	const struct nfgenmsg header = { .nfgen_family = NFPROTO_INET };

	nl_begin(out, (uint16_t)(NFNL_SUBSYS_NFTABLES << 8 | type), (uint16_t)flags, &header,
		 sizeof(header));
}

static void put_batch(struct nl_out *out, int type)
{
	const struct nfgenmsg header = { .res_id = htons(NFNL_SUBSYS_NFTABLES) };

	nl_begin(out, (uint16_t)type, 0, &header, sizeof(header));
	nl_end(out);
}

static void put_table(struct nl_out *out, int type, int flags)
{
	begin(out, type, flags);
	nl_put_str(out, NFTA_TABLE_NAME, NFT_TABLE);
	nl_end(out);
}

static void put_chain(struct nl_out *out, const char *name, int priority)
{
	begin(out, NFT_MSG_NEWCHAIN, NLM_F_CREATE);
	nl_put_str(out, NFTA_CHAIN_TABLE, NFT_TABLE);
	nl_put_str(out, NFTA_CHAIN_NAME, name);
	if (priority) {
		size_t hook = nl_nest(out, NFTA_CHAIN_HOOK);

		nl_put_be32(out, NFTA_HOOK_HOOKNUM, NF_INET_PRE_ROUTING);
		nl_put_be32(out, NFTA_HOOK_PRIORITY, (uint32_t)priority);
		nl_unnest(out, hook);
		nl_put_be32(out, NFTA_CHAIN_POLICY, NF_ACCEPT);
		nl_put_str(out, NFTA_CHAIN_TYPE, "filter");
	}
	nl_end(out);
}

static void put_rule(struct nl_out *out, const struct nft_ruleset *set, const struct rule *rule)
{
	size_t list;

	begin(out, NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND);
	nl_put_str(out, NFTA_RULE_TABLE, NFT_TABLE);
	nl_put_str(out, NFTA_RULE_CHAIN, rule->chain);
	list = nl_nest(out, NFTA_RULE_EXPRESSIONS);
	for (size_t i = 0; i < STATEMENTS_MAX && rule->statements[i].kind != END; i++)
		put_statement(out, set, &rule->statements[i]);
	nl_unnest(out, list);
	nl_end(out);
}

/* --- the addresses that the relay accepts by itself --- */

/* The first bits of the address that a packet goes to; no statement for none of them. */
static size_t match_prefix(struct statement *s, const uint8_t *addr, unsigned bits, uint8_t offset)
{
	uint8_t len = (uint8_t)((bits + 7) / 8);

	if (bits == 0)
		return 0;
	*s = S(NETWORK, NFT_CMP_EQ, offset, len);
	memcpy(s->value, addr, len);
	if (bits % 8) {
		s->mask = (uint8_t)(0xff << (8 - bits % 8));
		s->value[len - 1] &= s->mask;
	}
	return 1;
}

static void put_range(struct nl_out *out, const struct nft_ruleset *set,
		      const struct nft_range *range)
{
	bool v4 = range->bits >= 96 && IN6_IS_ADDR_V4MAPPED(&range->addr);
	const uint8_t *addr = range->addr.s6_addr;
	struct rule rule = { .chain = "pre" };
	struct statement *s = rule.statements;

	*s++ = TCP;
	if (v4) {
		*s++ = FAMILY_IS(IPV4);
		s += match_prefix(s, addr + 12, range->bits - 96, V4_TO);
	} else {
		*s++ = FAMILY_IS(IPV6);
		s += match_prefix(s, addr, range->bits, V6_TO);
	}
	if (range->first || range->last) {
		*s++ = PORT(DPORT, GTE, range->first);
		*s++ = PORT(DPORT, LTE, range->last);
	}
	*s++ = S(TPROXY);
	*s++ = ACCEPT;
	put_rule(out, set, &rule);
}

static void put_ranges(struct nl_out *out, const struct nft_ruleset *set)
{
	const struct nft_range synthetic[] = {
		{ .addr = { { { [10] = 0xff, 0xff, 198, 18 } } }, .bits = 96 + 15 },
		{ .addr = NSCONF_OWN_V6, .bits = 32 },
	};
	const struct rule every = { IN_STATIC, "pre", { TCP, S(TPROXY), ACCEPT } };

	if (set->n_direct > NFT_RANGES_MAX) {
		put_rule(out, set, &every);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(synthetic); i++)
		put_range(out, set, &synthetic[i]);
	for (size_t i = 0; i < set->n_direct; i++)
		put_range(out, set, &set->direct[i]);
}

static bool is_log(const struct rule *rule)
{
	for (size_t i = 0; i < STATEMENTS_MAX; i++)
		if (rule->statements[i].kind == LOG)
			return true;
	return false;
}

uint32_t nft_put_ruleset(struct nl_out *out, const struct nft_ruleset *set)
{
	unsigned tier = 1u << set->tier;
	uint32_t last;

	put_batch(out, NFNL_MSG_BATCH_BEGIN);
	if (set->replace)
		put_table(out, NFT_MSG_DELTABLE, 0);
	put_table(out, NFT_MSG_NEWTABLE, NLM_F_CREATE | NLM_F_EXCL);
	for (size_t i = 0; i < ARRAY_LEN(chains); i++)
		if (chains[i].tiers & tier)
			put_chain(out, chains[i].name, chains[i].priority);
	for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
		if (!(rules[i].tiers & tier) || (is_log(&rules[i]) && !set->log))
			continue;
		if (rules[i].statements[0].kind == RANGES)
			put_ranges(out, set);
		else
			put_rule(out, set, &rules[i]);
	}
	nl_want_ack(out);
	last = out->seq;
	put_batch(out, NFNL_MSG_BATCH_END);
	return last;
}
