/* SPDX-License-Identifier: MIT */
/*
 * The ssh-agent's protocol and what it may sign: one request in, one reply or one wish to sign out.
 * No sockets; docs/keys.md has the rules.
 *
 *	deploy key	to log in (RFC 4252 "publickey") in a session that this connection was bound
 *			to with session-bind@openssh.com, by a host key that is pinned
 *	signing key	an SSHSIG in the namespace "git"
 *
 * Everything else fails, whatever it is: adding, removing, locking, other extensions.
 */
#pragma once

#include "keys/crypto.h"
#include "keys/pins.h"
#include "keys/secret.h"

enum key_role { KEY_DEPLOY, KEY_SIGNING, KEY_ROLES };

enum key_reason {
	KEY_MALFORMED,    /* not a request that we know how to read */
	KEY_NOT_OFFERED,  /* adding, removing, locking...: not what this agent is for */
	KEY_UNKNOWN,      /* a key that is not here */
	KEY_NOT_BOUND,    /* log in: the connection was not bound to a session */
	KEY_NOT_PINNED,   /* the session is with a host that is not pinned */
	KEY_BAD_BINDING,  /* the host did not sign the session, it is forwarded, or a second one */
	KEY_OTHER_USE,    /* the data is for something else than this key may sign */
	KEY_OTHER_SPACE,  /* an SSHSIG in another namespace than git's */
	KEY_TOO_MANY,     /* more than may be asked for in a second */
	KEY_NOT_CONFIRMED /* the user said no, or nothing */
};

#define KEY_BLOB 51        /* an Ed25519 public key in SSH's form */
#define AGENT_MESSAGE 8192 /* the longest request, without its length */
#define AGENT_REPLY 512    /* and the longest reply */
#define KEY_USER 64

struct keyring {
	struct secret memory; /* the seeds, one for each role */
	bool has[KEY_ROLES];
	uint8_t blob[KEY_ROLES][KEY_BLOB];
	char comment[KEY_ROLES][80];
	struct pins pins;
};

/* What one connection has shown: that it speaks for a session with a pinned host. */
struct key_binding {
	bool bound, failed;
	uint8_t session[64];
	size_t session_len;
	const struct pin *pin;
};

/* Something that may be signed. The data is the request's. */
struct key_wish {
	enum key_role role;
	struct blob data;
	const char *host;    /* KEY_DEPLOY: as it is pinned */
	char user[KEY_USER]; /* KEY_DEPLOY: on that host; may hold anything but NUL */
};

enum key_outcome { KEY_REPLY, KEY_WISH, KEY_DENIED };

/* Loads the private keys (either path may be NULL), fails closed. */
int keyring_load(struct keyring *keys, const char *name, const char *deploy, const char *signing,
		 struct err *err);
void keyring_release(struct keyring *keys);

/* Whether it costs more than the message itself does. */
bool key_request_is_dear(struct blob request);

/* request: the message without its length. The reply, with its length, is there for KEY_REPLY and for
 * KEY_DENIED. For KEY_WISH it is the caller's to let keyring_sign() make one, or key_refuse(). */
enum key_outcome key_request(const struct keyring *keys, struct key_binding *binding,
			     struct blob request, struct wire_out *reply, struct key_wish *ret_wish,
			     enum key_reason *ret_reason);
/* A failure of ours is a refusal; returns -errno then. */
int keyring_sign(const struct keyring *keys, const struct key_wish *wish, struct wire_out *reply);
void key_refuse(struct wire_out *reply);

const char *key_role_name(enum key_role role);
const char *key_reason_name(enum key_reason reason);
