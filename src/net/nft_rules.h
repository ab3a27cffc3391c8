/* SPDX-License-Identifier: MIT */
/* The rules themselves, written as netlink messages. Between nft_rules.c and nft.c. */
#pragma once

#include "net/nft.h"
#include "os/linux/netlink.h"

/* Two expressions for the same thing; kernels are built with the one, the other, or both. */
enum nft_queue_by { NFT_BY_QUEUE, NFT_BY_TARGET };

struct nft_ruleset {
	enum net_tier tier; /* TIER_QUEUE or TIER_STATIC */
	enum nft_queue_by queue_by;
	bool log;     /* write refused packets to the log */
	bool replace; /* the table is there */
	const struct nft_range *direct;
	size_t n_direct;
};

#define NFT_TABLE "wrapix"

/* Enough for all rules and NFT_RANGES_MAX ranges. */
#define NFT_BATCH_BYTES (64 * 1024)

/* The whole batch. Returns the number of the message that is answered when all went well. */
uint32_t nft_put_ruleset(struct nl_out *out, const struct nft_ruleset *set);
