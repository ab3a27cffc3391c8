/* SPDX-License-Identifier: MIT */
/* A connection from inside and the one to the upstream host that belongs to it. For wrapix-relay. */
#pragma once

#include <openssl/ssl.h>

#include "keys/secret.h"
#include "net/resolver.h"
#include "os/ticker.h"
#include "relay/request.h"

/* What all of them share. */
struct relay {
	struct loop loop;
	struct loop_source door, listener;
	struct ticker ticker;
	struct relay_rules rules;
	char *rules_text;
	struct secret value;
	size_t value_len;
	int64_t value_since; /* in seconds; wanted: a newer one was asked for */
	bool wanted, listening;
	SSL_CTX *tls;
	SSL_SESSION *session; /* the last one, to go on with */
	struct resolver resolver;
	struct resolver_answer found; /* the last that was of use */
	int64_t resolved;             /* when; */
	bool resolving;               /* it is being asked for anew */
	struct pair *pairs;
	size_t n_pairs;
};

enum pair_state {
	PAIR_IDLE,       /* nobody has been called yet */
	PAIR_RESOLVING,  /* the host's name is looked up, then */
	PAIR_CONNECTING, /* TCP, */
	PAIR_HANDSHAKE,  /* then TLS, */
	PAIR_OPEN,
	PAIR_CLOSING, /* an answer of ours goes out; what still comes in is thrown away */
};

struct pair {
	struct relay *relay;
	struct pair *next, **link;
	struct loop_source client, upstream;
	enum pair_state state;
	SSL *ssl;
	size_t address; /* that is tried next */
	int64_t since;  /* the state, in seconds */
	int64_t moved;  /* the last of a request or an answer, in seconds */

	char *in; /* from the client, before it is judged */
	size_t in_len;
	struct secret out; /* to the upstream host */
	size_t out_at, out_len;
	char *down; /* to the client */
	size_t down_at, down_len;
	struct relay_body body;
	bool asked; /* a request has gone, and nothing of its answer has come yet */
	bool dead;
};

/* Takes the connection over. */
int pair_begin(struct relay *relay, int client, struct err *err);
/* Closes those that wait for nothing; called now and then. */
void pairs_expire(struct relay *relay);
/* The upstream host's addresses, or none. */
void pairs_resolved(struct relay *relay, const struct resolver_answer *answer);

/* In main.c: a line for the log, and that the value is in use. */
void relay_say(struct relay *relay, const char *what, const char *why);
void relay_touch_value(struct relay *relay);
