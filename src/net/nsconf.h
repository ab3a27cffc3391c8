/* SPDX-License-Identifier: MIT */
/*
 * The network of a filtered sandbox, seen from the kernel: sockets that live in its network
 * namespace and belong to the supervisor, and the addresses and routes in there.
 *
 * Every address there is is local to the sandbox, so that whatever it connects to comes to us:
 *
 *	struct ns_sockets sockets;
 *	nsconf_open(netns, &sockets, err)		the sockets; the listeners listen
 *	nsconf_routes(&sockets, &ipv6, err)		lo up, addresses, all routes lead to lo
 *	nft_apply(&sockets, &options, &tier, err)	see net/nft.h
 *	...
 *	nsconf_close(&sockets)				everything in there is refused from now on
 */
#pragma once

#include <netinet/in.h>

#include "base/err.h"

/* The sandbox's own addresses. 198.18.0.0/15 is set aside for tests and never routed. */
#define NSCONF_OWN_V4 0xc6120002u /* 198.18.0.2, in host order */
#define NSCONF_OWN_V6                                                                   \
	{                                                                               \
		{                                                                       \
			{ 0xfd, 0x53, 0xb0, 0xc5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2 }, \
		}                                                                       \
	} /* fd53:b0c5::2 */

#define NSCONF_RELAY_PORT 1
#define NSCONF_DNS_PORT 53

/* All CLOEXEC and non-blocking; -1 where the kernel has no such thing. */
struct ns_sockets {
	int family;  /* of the three below: AF_INET6 (both), AF_INET when there is no IPv6 */
	int tcp;     /* listens on every address, port NSCONF_RELAY_PORT, transparent */
	int udp;     /* every address, port 53; gives and takes IPV6_PKTINFO (or IP_PKTINFO) */
	int dns_tcp; /* listens on every address, port 53 */
	int route;   /* NETLINK_ROUTE */
	int diag;    /* NETLINK_SOCK_DIAG: whose socket was it, what listens inside */
	int nft, queue, log; /* NETLINK_NETFILTER */
};

/*
 * Makes the sockets in the namespace, by way of a helper that shares our memory and descriptors and
 * lives for some microseconds, and sets the namespace's sysctls. The caller has one thread, and owns
 * the user namespace that netns belongs to.
 *
 * DNS over TCP: since every address is local, a plain listener on port 53 gets the connections to
 * any server's port 53, in every tier, without the queue and without the relay.
 */
int nsconf_open(int netns, struct ns_sockets *ret, struct err *err);
void nsconf_close(struct ns_sockets *sockets);

/* n plain TCP sockets in the namespace, non-blocking, not bound: to connect to a server inside, or
 * to listen there. All or none. */
int nsconf_refill(int netns, int *ret_fds, size_t n, int family, struct err *err);

/* A NETLINK_SOCK_DIAG socket in the namespace, which knows what listens there. */
int nsconf_diag(int netns, int *ret_fd, struct err *err);

/* A TCP listener inside on every address (for TIER_PORTS). EADDRINUSE: somebody inside has the port. */
int nsconf_listen(int netns, int family, uint16_t port, int *ret_fd, struct err *err);

/* lo up, our addresses, every other address local with ours as the source. *ret_ipv6: IPv6 too. */
int nsconf_routes(const struct ns_sockets *sockets, bool *ret_ipv6, struct err *err);

/* Two UNIX sockets of this type (with SOCK_NONBLOCK, where wanted), connected to each other: their abstract
 * names would be the sandbox's. */
int nsconf_pair(int netns, int type, int ret_fds[2], struct err *err);
