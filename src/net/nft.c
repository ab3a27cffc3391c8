/* SPDX-License-Identifier: MIT */
/*
 * Putting the packet filter in place, and finding out by doing what the kernel can.
 *
 * A batch is applied as a whole or not at all. When the kernel refuses one it says which attribute
 * it dislikes; that leads to the name of the expression, and so to what this kernel lacks and to what
 * can be tried in its stead. Its modules are loaded on demand, by the kernel itself.
 *
 * The table has no owner (NFT_TABLE_F_OWNER): closing an owner's socket waits for the removal of
 * the table, 6 to 10 ms at each end of a sandbox. It goes with its namespace.
 */
#include "net/nft.h"

#include <errno.h>
#include <string.h>

#include "net/nft_rules.h"
#include "net/queue.h"
#include "os/linux/packets.h"

#define ACKS_MAX 8 /* errors that are looked at; the first counts */

/* Why a batch was refused. */
struct refusal {
	int code;
	char expr[16]; /* the expression; "" when it is not about one */
	char text[120];
};

const char *net_tier_name(enum net_tier tier)
{
	static const char *const names[] = {
		[TIER_QUEUE] = "queue",
		[TIER_STATIC] = "static",
		[TIER_PORTS] = "ports",
	};

	return names[tier];
}

/* The name of the expression that begins at this offset of one of our own messages. */
static void name_expression(const struct nl_out *out, const struct nl_ack *ack, char *ret,
			    size_t size)
{
	struct nl_in in = { out->data, out->len };
	struct nl_message message = { 0 };
	struct nl_attr attr;

	while (nl_next_message(&in, &message) && message.seq != ack->seq)
		;
	if (message.seq != ack->seq || ack->offset < NLMSG_HDRLEN ||
	    !nl_skip(&message.body, ack->offset - NLMSG_HDRLEN) ||
	    !nl_next_attr(&message.body, &attr) || attr.type != NFTA_LIST_ELEM)
		return;
	in = attr.value;
	if (nl_next_attr(&in, &attr) && attr.type == NFTA_EXPR_NAME)
		snprintf(ret, size, "%.*s", (int)attr.value.len, (const char *)attr.value.data);
}

/* 0, or -errno with the refusal. */
static int try_ruleset(int fd, const struct nft_ruleset *set, struct refusal *ret)
{
	uint8_t buffer[NFT_BATCH_BYTES] __attribute__((aligned(4)));
	struct nl_out out = NL_OUT(buffer);
	struct nl_ack acks[ACKS_MAX];
	uint32_t last = nft_put_ruleset(&out, set);
	int n = nl_transact(fd, &out, acks, ARRAY_LEN(acks));
	bool answered = false;

	*ret = (struct refusal){ .code = n < 0 ? -n : 0 };
	for (int i = 0; i < n && ret->code == 0; i++) {
		if (acks[i].code == 0 && acks[i].seq == last)
			answered = true;
		if (acks[i].code == 0)
			continue;
		ret->code = acks[i].code;
		memcpy(ret->text, acks[i].text, sizeof(ret->text));
		name_expression(&out, &acks[i], ret->expr, sizeof(ret->expr));
	}
	if (ret->code == 0 && !answered)
		ret->code = EIO;
	return -ret->code;
}

static int explain(const struct refusal *refusal, struct err *err)
{
	static const struct {
		const char *expr, *config;
	} options[] = {
		{ "queue", "NFT_QUEUE" },
		{ "target", "NFT_COMPAT and NETFILTER_XT_TARGET_NFQUEUE" },
		{ "tproxy", "NFT_TPROXY" },
		{ "reject", "NFT_REJECT_INET" },
		{ "limit", "NFT_LIMIT" },
		{ "log", "NFT_LOG and NETFILTER_NETLINK_LOG" },
	};

	for (size_t i = 0; i < ARRAY_LEN(options); i++)
		if (strcmp(options[i].expr, refusal->expr) == 0)
			return err_set(err, refusal->code,
				       "the kernel's packet filter cannot '%s' (CONFIG_%s): %s",
				       refusal->expr, options[i].config, strerror(refusal->code));
	return err_errno(err, refusal->code, "the kernel's packet filter (nf_tables)%s%s",
			 *refusal->text ? ": " : "", refusal->text);
}

/* Whether a rule may use iptables' target. Asking is cheap; a batch that fails costs milliseconds. */
static bool has_target(int fd)
{
	const struct nfgenmsg header = { .nfgen_family = AF_INET };
	uint8_t buffer[128] __attribute__((aligned(4)));
	struct nl_out out = NL_OUT(buffer);
	struct nl_ack ack;
	int n;

	nl_begin(&out, NFNL_SUBSYS_NFT_COMPAT << 8 | NFNL_MSG_COMPAT_GET, NLM_F_ACK, &header,
		 sizeof(header));
	nl_put_str(&out, NFTA_COMPAT_NAME, "NFQUEUE");
	nl_put_be32(&out, NFTA_COMPAT_REV, 3);
	nl_put_be32(&out, NFTA_COMPAT_TYPE, 1); /* a target */
	nl_end(&out);
	n = nl_transact(fd, &out, &ack, 1);
	return n == 1 && ack.code == 0;
}

static bool is_log(const char *expr)
{
	return strcmp(expr, "log") == 0 || strcmp(expr, "limit") == 0;
}

/* One tier, with and without what it can do without. */
static int try_tier(int fd, struct nft_ruleset *set, struct err *err)
{
	struct refusal refusal;

	if (try_ruleset(fd, set, &refusal) == 0)
		return 0;
	if (set->log && is_log(refusal.expr)) {
		set->log = false;
		if (try_ruleset(fd, set, &refusal) == 0)
			return 0;
	}
	return explain(&refusal, err);
}

static int try_queue(const struct ns_sockets *sockets, struct nft_ruleset *set, struct err *err)
{
	bool target = has_target(sockets->nft);
	int r = set->replace ? 0 : queue_bind(sockets->queue, err);

	if (r < 0)
		return r;
	set->queue_by = target ? NFT_BY_TARGET : NFT_BY_QUEUE;
	r = try_tier(sockets->nft, set, err);
	if (r < 0 && target) {
		set->queue_by = NFT_BY_QUEUE;
		r = try_tier(sockets->nft, set, err);
	}
	return r;
}

int nft_apply(const struct ns_sockets *sockets, const struct nft_options *options,
	      enum net_tier *ret, struct err *err)
{
	struct nft_ruleset set = {
		.replace = options->replace,
		.direct = options->direct,
		.n_direct = options->n_direct,
	};
	struct err ignored;

	*err = (struct err){ 0 };
	*ret = TIER_PORTS;
	if (sockets->nft < 0 && options->best < TIER_PORTS)
		err_set(err, EPROTONOSUPPORT, "the kernel has no packet filter (CONFIG_NF_TABLES)");
	if (sockets->nft < 0 || options->best == TIER_PORTS)
		return 0;
	set.log = set.replace || log_bind(sockets->log, &ignored) == 0;
	if (options->best == TIER_QUEUE && try_queue(sockets, &set, err) == 0) {
		*ret = TIER_QUEUE;
		return 0;
	}
	set.tier = TIER_STATIC;
	if (try_tier(sockets->nft, &set, err) == 0)
		*ret = TIER_STATIC;
	return 0;
}
