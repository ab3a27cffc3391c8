/* SPDX-License-Identifier: MIT */
/*
 * Guest of the loop: names become addresses in children, so that the loop never waits for a name
 * server and a slow name delays no other.
 */
#pragma once

#include <netinet/in.h>

#include "os/loop.h"

#define RESOLVER_ADDRESSES 16
#define RESOLVER_NAME_MAX 256

struct resolver_answer {
	uint32_t id;
	int32_t error; /* EAI_*, 0 when there are addresses */
	uint32_t n;
	struct in6_addr addresses[RESOLVER_ADDRESSES]; /* IPv4 as ::ffff:a.b.c.d */
};

typedef void resolver_fn(void *ctx, const struct resolver_answer *answer);

struct resolver {
	struct loop *loop;
	struct loop_source source;
	pid_t pid;
	resolver_fn *fn;
	void *ctx;
};

/* What the worker does: for the program wrapix-resolver, which stands in where ours is static. */
_Noreturn void resolver_work(int fd);

int resolver_start(struct resolver *resolver, struct loop *loop, resolver_fn *fn, void *ctx,
		   struct err *err);
/* The answer carries the id; every question gets one, after 15 seconds at the latest. */
int resolver_ask(struct resolver *resolver, uint32_t id, const char *name);
void resolver_stop(struct resolver *resolver);
