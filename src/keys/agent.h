/* SPDX-License-Identifier: MIT */
/* The ssh-agent: connections from inside to a keyring that is outside. A guest of the loop. */
#pragma once

#include "keys/confirm.h"
#include "keys/protocol.h"
#include "os/loop.h"

enum {
	AGENT_CONNECTIONS = 64, /* at a time; more wait in the socket's queue */
	AGENT_SILENCE = 5, /* seconds without a request, after which one makes room for those */
	AGENT_PER_SECOND = 200, /* signatures and bindings; more are refused */
	AGENT_NAMED = 64,       /* events in a second that say whose they are */
};

/* A signature was made, or something was refused. The strings may hold what the sandbox wrote. */
struct key_event {
	bool denied;
	enum key_reason reason;  /* denied */
	enum key_role role;      /* signed */
	const char *name;        /* of the pair */
	const char *host, *user; /* of a login; NULL: not known */
	uint64_t count;          /* signed: the how-manieth of this key */
	pid_t pid;               /* of who connected, as the host sees it; 0: not known */
};

struct key_agent_hooks {
	void (*on_event)(void *ctx, const struct key_event *event);
	void (*warn)(void *ctx, const struct err *err);
	void *ctx;
};

struct key_connection;

struct key_agent {
	struct loop *loop; /* NULL: not started */
	struct loop_source listener;
	struct ticker ticker; /* runs while nobody is let in */
	bool listening, warned;
	struct keyring keys;
	const char *name;
	const char *confirm_by; /* the program that asks; NULL: nobody is asked */
	struct confirm confirm;
	struct key_connection *asked; /* for whom the user is being asked */
	int64_t refused_until;        /* after a no: nobody is asked again before */
	struct key_connection *connections;
	size_t n_connections;
	uint64_t count[KEY_ROLES];
	int64_t second; /* the current one, */
	unsigned in_second, told_in_second;
	struct key_agent_hooks hooks;
};

/* Takes the listening socket and the keyring over. */
int key_agent_start(struct key_agent *agent, struct loop *loop, int listener,
		    struct keyring *keyring, const char *name, const char *confirm_by,
		    const struct key_agent_hooks *hooks, struct err *err);
/* Wipes the keys. Safe for a zeroed one. */
void key_agent_stop(struct key_agent *agent);

/* The event as the members of a JSON object, for the event log. */
struct str;
void key_event_add(struct str *out, const struct key_event *event);
