/* SPDX-License-Identifier: MIT */
/*
 * The open network, free until used: the first socket that needs a network attaches one, and
 * the call goes on when it is there. A command that makes no connection pays nothing.
 */
#pragma once

#include "net/uplink.h"
#include "os/loop.h"

struct lazy_net;

/* What lazy_net_ask() says. */
enum lazy_answer { LAZY_GO_ON, LAZY_WAIT, LAZY_REFUSE };

struct lazy_net_hooks {
	void (*answer)(void *ctx, uint64_t id, bool up);  /* for each that was told to wait */
	void (*failed)(void *ctx, const struct err *err); /* of each program once */
	void *ctx;
};

struct lazy_net {
	struct loop *loop;
	const struct strv *argvs; /* of the programs, tried in this order */
	size_t n_argvs, at;
	unsigned told;  /* of which the user knows that they failed, a bit each */
	bool told_lost; /* and that one ended which was attached */
	int netns;      /* of the sandbox */
	struct lazy_net_hooks hooks;
	enum { LAZY_IDLE, LAZY_ATTACHING, LAZY_UP, LAZY_DOWN } state;
	int64_t retry; /* LAZY_DOWN: not before */
	pid_t keeper;  /* lends a pid in the sandbox's namespaces */
	struct uplink uplink;
	struct loop_source ready, dead;
	uint64_t *waiting;
	size_t n_waiting;
};

/* Takes netns over. */
void lazy_net_start(struct lazy_net *net, struct loop *loop, const struct strv *argvs, size_t n,
		    int netns, const struct lazy_net_hooks *hooks);
enum lazy_answer lazy_net_ask(struct lazy_net *net, uint64_t id);
void lazy_net_stop(struct lazy_net *net);
