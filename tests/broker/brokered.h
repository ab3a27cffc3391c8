/* SPDX-License-Identifier: MIT */
/*
 * A small sandbox for tests of the broker: a process whose whole view is read-only, with the
 * filter's questions answered by a broker in this process. No engine is needed.
 */
#pragma once

#include "guard/broker.h"

struct brokered {
	struct file_rules rules;
	char dir[256]; /* a fresh directory, canonical, writable through the broker */
	int denials;
	char last_path[4096], last_rule[256], last_reason[256];
	unsigned
		flags; /* of seccomp_load(); 0: neither a filter nor a read-only view, to compare */
	void (*on_tick)(struct brokered *); /* called now and then while it runs */
	void (*on_denied)(struct brokered *, const struct broker_denial *);
};

/* The directory is made below base; the rules allow it, and protect what is protected by default. */
void brokered_init(struct brokered *b, const char *base);
void brokered_allow(struct brokered *b, const char *path);
void brokered_deny(struct brokered *b, enum file_rule_kind kind, const char *path);

/* Runs fn(ctx) inside, in the directory, and returns its wait status; -1 when it could not start. */
int brokered_run(struct brokered *b, int (*fn)(void *ctx), void *ctx);

/* Removes the directory. */
void brokered_release(struct brokered *b);
