/* SPDX-License-Identifier: MIT */
/*
 * First packets of connections, which the kernel holds until we say what becomes of them (NFQUEUE),
 * and copies of packets that it has refused by itself (NFLOG).
 */
#pragma once

#include <netinet/in.h>

#include "base/err.h"

#define QUEUE_NUM 0
#define LOG_GROUP 1

struct queue_packet {
	uint32_t id;              /* for queue_verdict() */
	uint8_t proto;            /* IPPROTO_TCP or IPPROTO_UDP */
	bool syn;                 /* TCP: it opens a connection */
	int family;               /* AF_INET or AF_INET6 */
	struct in6_addr src, dst; /* IPv4 as ::ffff:a.b.c.d, as an AF_INET6 socket has it */
	uint16_t sport, dport;    /* in host order */
};

/* What becomes of a queued packet, and what connect() inside says. The numbers are the marks by
 * which the rules of net/nft.c tell them apart. */
enum queue_verdict {
	QUEUE_DROP = 0,   /* nothing: the sandbox's kernel sends it again, later and later */
	QUEUE_PASS = 1,   /* it goes to our listener, which accepts */
	QUEUE_REFUSE = 2, /* ECONNREFUSED */
	QUEUE_HOST_UNREACHABLE = 3, /* EHOSTUNREACH */
	QUEUE_NO_ROUTE = 4,         /* ENETUNREACH */
};

/* Binds the socket (ns_sockets.queue) to the queue. Before nft_apply() fills it. */
int queue_bind(int fd, struct err *err);

/*
 * The next first packet of a connection: 0, -EAGAIN when there is none now, or -errno. One that
 * cannot be understood is dropped here and never seen.
 */
int queue_receive(int fd, struct queue_packet *ret);

/* 0 or -errno. Every packet received needs exactly one; its place in the queue is taken until then. */
int queue_verdict(int fd, uint32_t id, enum queue_verdict verdict);

/* Binds the socket (ns_sockets.log) to the group of refused packets. */
int log_bind(int fd, struct err *err);

/* The next refused packet (id is 0): 0, -EAGAIN, or -errno. There are at most some 20 a second. */
int log_receive(int fd, struct queue_packet *ret);

/*
 * The parsers: one datagram as it comes from the kernel. -EBADMSG when it is something else, -EPROTO
 * when it holds no packet that we understand; queue_parse() then has set *ret_id.
 */
int queue_parse(const void *data, size_t len, struct queue_packet *ret, uint32_t *ret_id);
int log_parse(const void *data, size_t len, struct queue_packet *ret);
