/* SPDX-License-Identifier: MIT */
/* What happens inside the network namespace of tests/system/netns_driver.c, on request. */
#pragma once

#include <netinet/in.h>
#include <sys/types.h>

#include "base/util.h"

enum guest_op {
	GUEST_CONNECT,    /* TCP; then reads, unless 'number' is set */
	GUEST_UDP,        /* sends "q" from a connected socket, waits for an answer or an error */
	GUEST_LISTEN,     /* TCP; stays until GUEST_FORGET */
	GUEST_BIND_UDP,   /* only tries */
	GUEST_FORGET,     /* closes what listens */
	GUEST_LOOKUP,     /* getaddrinfo with AI_ADDRCONFIG; the code is getaddrinfo's */
	GUEST_LO_UP,      /* as the sandbox's init does it */
	GUEST_SYSCTL,     /* 'text' is PATH=VALUE */
	GUEST_READ,       /* the file 'text' */
	GUEST_RAW,        /* sends 'data' as a whole packet */
	GUEST_SPOOF,      /* sends 'data' to the netlink port 'number' */
	GUEST_DROP_TABLE, /* removes our rules */
	GUEST_FLOOD,      /* 'number' UDP packets; the code says how many were refused */
};

struct guest_request {
	enum guest_op op;
	int family;               /* of the socket */
	struct in6_addr to, from; /* from: bound to when it is not :: or from_port is not 0 */
	uint16_t port, from_port;
	uint32_t number;
	char text[128];
	uint8_t data[256];
	size_t len;
};

struct guest_reply {
	int code;                  /* 0 or errno */
	unsigned us;               /* that the call took */
	char text[64];             /* what was read */
	struct sockaddr_in6 local; /* GUEST_CONNECT, IPv4 as ::ffff: */
};

/* A process with every right over a network namespace of its own (ret_fds[0]), and one in there
 * without any (ret_fds[1]): descriptors to send requests to. Returns the pid of the first, the
 * second ends with it, or -errno. */
pid_t guest_start(int ret_fds[2], int *ret_netns);

/* IPv4 as ::ffff:a.b.c.d */
struct in6_addr guest_addr(const char *text);
/* Of one end of a connection, in the same way. */
int guest_name(int fd, bool peer, struct sockaddr_in6 *ret);
