/* SPDX-License-Identifier: MIT */
/* The packet filter of a filtered sandbox's network namespace: nf_tables over raw netlink. */
#pragma once

#include "net/nsconf.h"

/* How connections are caught, best first. Which of them the kernel can do is found by doing. */
enum net_tier {
	/* Each first packet waits in the queue for our verdict: exact errors, any port. */
	TIER_QUEUE,
	/* No NFQUEUE. Synthetic addresses and 'direct' ones are accepted by the relay, which resets
	 * what it cannot serve; the rest is refused by the kernel, with an event in the log. */
	TIER_STATIC,
	/* No nf_tables. The caller listens on each port that its policy names (nsconf_listen()), on
	 * every address; other ports are refused by the kernel, without an event. */
	TIER_PORTS,
};

/* Addresses that the policy names as such; IPv4 as ::ffff:a.b.c.d with 96 more bits. */
struct nft_range {
	struct in6_addr addr;
	unsigned bits;        /* 0 .. 128 */
	uint16_t first, last; /* ports, in host order; 0, 0: every port */
};

/* More of them than this, and TIER_STATIC lets the relay accept every address. */
#define NFT_RANGES_MAX 64

struct nft_options {
	enum net_tier best; /* try no better one: for tests, and for 'replace' */
	bool replace;       /* rules are there: put the new ones in their place, in one step */
	const struct nft_range *direct;
	size_t n_direct;
};

/*
 * Binds queue and log, and puts the rules in place. When *ret is less than the best, err says what
 * the kernel lacks. Done once; again with 'replace' and the tier that was reached, when 'direct' has
 * changed (only TIER_STATIC looks at it).
 */
int nft_apply(const struct ns_sockets *sockets, const struct nft_options *options,
	      enum net_tier *ret, struct err *err);

const char *net_tier_name(enum net_tier tier);
