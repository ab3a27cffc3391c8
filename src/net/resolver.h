/* SPDX-License-Identifier: MIT */
/*
 * Guest of the loop: names become addresses in children, so that the loop never waits for a name
 * server and a slow name delays no other.
 */
#pragma once

#include <netinet/in.h>

#include "os/loop.h"

#define RESOLVER_ADDRESSES 16
#define RESOLVER_AT_ONCE 64 /* names; more wait */
#define RESOLVER_NAME_MAX 256

struct resolver_answer {
	char name[RESOLVER_NAME_MAX]; /* "": whatever was asked for is lost */
	int32_t error;                /* EAI_*, 0 when there are addresses */
	uint32_t n;
	struct in6_addr addresses[RESOLVER_ADDRESSES]; /* IPv4 as ::ffff:a.b.c.d */
};

typedef void resolver_fn(void *ctx, const struct resolver_answer *answer);

struct resolver {
	struct loop *loop;
	struct loop_source source;
	pid_t pid;
	bool worked; /* the worker has answered: one that is killed is replaced */
	resolver_fn *fn;
	void *ctx;
};

/* What the worker does: for the program wrapix-resolver, which stands in where ours is static. */
_Noreturn void resolver_work(int fd);

int resolver_start(struct resolver *resolver, struct loop *loop, resolver_fn *fn, void *ctx,
		   struct err *err);
/* Every question gets an answer, at the latest 15 seconds after the worker has taken it; one without a name
 * answers all that were asked: the worker is gone. -EAGAIN: too many wait for the worker; an answer makes
 * room. */
int resolver_ask(struct resolver *resolver, const char *name);
void resolver_stop(struct resolver *resolver);
