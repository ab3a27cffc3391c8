/* SPDX-License-Identifier: MIT */
/*
 * The credentials of one session: fetched from the store while the plan is made, given to the command
 * or to the relays, and wiped.
 *
 *	credentials_prefetch()	the layers are known; processes begin to read the store
 *	credentials_begin()	a copy of the plan with the values in it
 *	credentials_relay()	the engine has a socket for a brokered one
 *	credentials_watch()	with the loop: relays ask for newer values
 *	credentials_started()	the command has its own copy: ours is wiped
 *	credentials_end()
 */
#pragma once

#include "keys/fetch.h"
#include "os/loop.h"
#include "plan/plan.h"

/* Those that are being read. */
struct prefetch {
	struct {
		char *secret;
		struct fetch fetch;
	} v[4];
	size_t n;
};

/* Never waits, and never fails: what is not read here is read later. */
void credentials_prefetch(struct prefetch *prefetch, struct spec *spec, const char *config_home);
void prefetch_cancel(struct prefetch *prefetch);

struct session_relay;

struct credential_hooks {
	void (*warn)(void *ctx, const struct err *err);
	void (*said)(void *ctx, const char *name, const char *line); /* by a relay; for the log */
	void *ctx;
};

struct credentials {
	struct plan plan; /* to be run: the strings are the other's, but for what was added */
	const char *config_home;
	struct prefetch *prefetch;
	struct credential_hooks hooks;
	struct secret env; /* the entries of the environment */
	size_t env_len;
	struct loop *loop;
	struct session_relay *relays;
};

int credentials_begin(struct credentials *c, const struct plan *plan, struct prefetch *prefetch,
		      const char *config_home, const struct credential_hooks *hooks,
		      struct err *err);
int credentials_relay(struct credentials *c, size_t index, int listener, struct err *err);
void credentials_watch(struct credentials *c, struct loop *loop);
void credentials_started(struct credentials *c);
/* Safe for a zeroed one. */
void credentials_end(struct credentials *c);
