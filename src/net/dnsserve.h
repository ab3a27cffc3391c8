/* SPDX-License-Identifier: MIT */
/* Guest of the loop: the DNS responder's two sockets, answered by net/dns.h. */
#pragma once

#include "net/dns.h"
#include "net/queue.h"
#include "os/listener.h"

/* query: between which addresses it came, for who asks. */
typedef void dns_report_fn(void *ctx, const struct dns_answer *answer,
			   const struct queue_packet *query);

struct dns_client;

struct dns_server {
	struct loop *loop;
	struct dns dns;
	struct loop_source udp;
	struct listener tcp;
	struct ticker ticker;
	struct dns_client *clients;
	size_t n_clients;
	dns_report_fn *report;
	void *ctx;
};

/* The descriptors stay the caller's; they may be -1. */
int dns_server_start(struct dns_server *server, struct loop *loop, const struct dns *dns, int udp,
		     int tcp, dns_report_fn *report, void *ctx, struct err *err);
void dns_server_stop(struct dns_server *server);
