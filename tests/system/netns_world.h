/* SPDX-License-Identifier: MIT */
/* The supervisor's part in tests/system/netns_driver.c: one namespace, its sockets, what they saw. */
#pragma once

#include "net/nft.h"
#include "net/queue.h"
#include "netns_guest.h"

enum guest { STRONG, WEAK }; /* with every right over the namespace; with none */

struct seen {
	unsigned queued, logged, accepted, asked; /* packets; connections; DNS by either way */
	struct queue_packet packet, log;          /* the last ones */
	struct sockaddr_in6 local, peer;          /* of the last that was accepted, or asked */
};

struct world {
	pid_t pid;
	int guests[2];
	int netns;
	struct ns_sockets sockets;
	bool ipv6;
	enum net_tier tier;
	struct err err;             /* of nft_apply() */
	unsigned us[3];             /* that nsconf_open(), nsconf_routes() and nft_apply() took */
	int extra;                  /* one more listener, or -1 */
	enum queue_verdict verdict; /* for what is queued */
	unsigned drop;              /* that many are dropped before */
	struct seen seen;           /* since the last request began */
};

/* Makes the namespace; the test ends when that fails. */
void world_start(struct world *world);
void world_stop(struct world *world);

/* As the supervisor does it; the options are nft_apply()'s. */
int world_configure(struct world *world, const struct nft_options *options);

/* Has a guest do something, and serves the sockets meanwhile. */
struct guest_reply world_ask(struct world *world, enum guest guest, const struct guest_request *q);

/* The same in short: an AF_INET or AF_INET6 socket as the address has it. */
struct guest_reply world_connect(struct world *world, const char *to, uint16_t port);
struct guest_reply world_udp(struct world *world, const char *to, uint16_t port);
int world_listen(struct world *world, const char *on, uint16_t port);
