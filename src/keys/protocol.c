/* SPDX-License-Identifier: MIT */
/*
 * The ssh-agent's protocol.
 *
 * A signature of the deploy key logs in somewhere, so it is given only for data that says where: the
 * identifier of an SSH session which the host itself has signed, with a key that the user pinned.
 * OpenSSH's client sends that proof (session-bind@openssh.com, OpenSSH 8.9) before it asks for the
 * signature. A session identifier is a hash over fresh random numbers of both sides, so what is
 * signed for one session is of no use in any other. The signing key signs nothing but messages that
 * begin with "SSHSIG" and name git, which no SSH server takes for a login.
 *
 * What an attacker controls: every byte of a request. A host key is looked up among the pinned ones
 * before anything is done with it.
 */
#include "keys/protocol.h"

#include <errno.h>
#include <string.h>

#include "keys/privkey.h"

enum message {
	AGENT_FAILURE = 5,
	AGENT_SUCCESS = 6,
	AGENT_REQUEST_IDENTITIES = 11,
	AGENT_IDENTITIES = 12,
	AGENT_SIGN_REQUEST = 13,
	AGENT_SIGNATURE = 14,
	AGENT_EXTENSION = 27,
	USERAUTH_REQUEST = 50,
};

static const char algorithm[] = "ssh-ed25519";

const char *key_role_name(enum key_role role)
{
	return role == KEY_DEPLOY ? "deploy" : "signing";
}

const char *key_reason_name(enum key_reason reason)
{
	static const char *const names[] = {
		[KEY_MALFORMED] = "malformed",        [KEY_NOT_OFFERED] = "not-offered",
		[KEY_UNKNOWN] = "unknown-key",        [KEY_NOT_BOUND] = "not-bound",
		[KEY_NOT_PINNED] = "host-not-pinned", [KEY_BAD_BINDING] = "bad-binding",
		[KEY_OTHER_USE] = "other-use",        [KEY_OTHER_SPACE] = "other-namespace",
		[KEY_TOO_MANY] = "too-many",          [KEY_NOT_CONFIRMED] = "not-confirmed",
	};

	return names[reason];
}

static uint8_t *seed_of(const struct keyring *keys, enum key_role role)
{
	return keys->memory.data + (size_t)role * ED25519_KEY;
}

static struct blob blob_of(const struct keyring *keys, enum key_role role)
{
	return (struct blob){ keys->blob[role], KEY_BLOB };
}

int keyring_load(struct keyring *keys, const char *name, const char *deploy, const char *signing,
		 struct err *err)
{
	const char *const paths[KEY_ROLES] = { deploy, signing };
	int r;

	*keys = (struct keyring){ .memory = { 0 } };
	r = crypto_load(err);
	if (r == 0)
		r = secret_alloc(&keys->memory, KEY_ROLES * ED25519_KEY, err);
	for (enum key_role role = 0; r == 0 && role < KEY_ROLES; role++) {
		struct wire_out blob = { .p = keys->blob[role], .size = KEY_BLOB };
		uint8_t public[ED25519_KEY];

		if (!paths[role])
			continue;
		r = privkey_load(paths[role], seed_of(keys, role), public, err);
		if (r < 0)
			break;
		wire_put_string(&blob, algorithm, sizeof(algorithm) - 1);
		wire_put_string(&blob, public, sizeof(public));
		snprintf(keys->comment[role], sizeof(keys->comment[role]), "%s (%s)", name,
			 key_role_name(role));
		keys->has[role] = true;
	}
	if (r < 0)
		keyring_release(keys);
	return r;
}

void keyring_release(struct keyring *keys)
{
	secret_free(&keys->memory);
	pins_release(&keys->pins);
	memset(keys->has, 0, sizeof(keys->has));
}

/* --- replies --- */

/* The length goes in front when the rest is there. */
static void begin_reply(struct wire_out *reply, enum message type)
{
	reply->len = 0;
	reply->overflow = false;
	wire_put_u32(reply, 0);
	wire_put_byte(reply, (uint8_t)type);
}

static void end_reply(struct wire_out *reply)
{
	struct wire_out head = { .p = reply->p, .size = 4 };

	wire_put_u32(&head, (uint32_t)reply->len - 4);
}

static void short_reply(struct wire_out *reply, enum message type)
{
	begin_reply(reply, type);
	end_reply(reply);
}

void key_refuse(struct wire_out *reply)
{
	short_reply(reply, AGENT_FAILURE);
}

static void list(const struct keyring *keys, struct wire_out *reply)
{
	uint32_t n = 0;

	for (enum key_role role = 0; role < KEY_ROLES; role++)
		n += keys->has[role];
	begin_reply(reply, AGENT_IDENTITIES);
	wire_put_u32(reply, n);
	for (enum key_role role = 0; role < KEY_ROLES; role++) {
		if (!keys->has[role])
			continue;
		wire_put_string(reply, keys->blob[role], KEY_BLOB);
		wire_put_string(reply, keys->comment[role], strlen(keys->comment[role]));
	}
	end_reply(reply);
}

int keyring_sign(const struct keyring *keys, const struct key_wish *wish, struct wire_out *reply)
{
	uint8_t bytes[ED25519_SIGNATURE], text[4 + sizeof(algorithm) - 1 + 4 + ED25519_SIGNATURE];
	struct wire_out signature = { .p = text, .size = sizeof(text) };
	int r = crypto_ed25519_sign(seed_of(keys, wish->role), wish->data, bytes);

	if (r < 0) {
		key_refuse(reply);
		return r;
	}
	wire_put_string(&signature, algorithm, sizeof(algorithm) - 1);
	wire_put_string(&signature, bytes, sizeof(bytes));
	begin_reply(reply, AGENT_SIGNATURE);
	wire_put_string(reply, text, signature.len);
	end_reply(reply);
	return 0;
}

/* --- what may be signed --- */

/* RFC 4252, 7, and OpenSSH's variant, which names the host's key once more. */
static int judge_login(const struct keyring *keys, const struct key_binding *binding,
		       struct blob data, struct key_wish *wish)
{
	struct blob session, user, service, method, name, key, host;
	uint8_t type, has_signature;
	bool hostbound;

	if (!wire_string(&data, &session) || !wire_byte(&data, &type) || type != USERAUTH_REQUEST ||
	    !wire_string(&data, &user) || !wire_string(&data, &service) ||
	    !wire_string(&data, &method) || !wire_byte(&data, &has_signature) ||
	    !wire_string(&data, &name) || !wire_string(&data, &key))
		return KEY_OTHER_USE;
	hostbound = blob_is(method, "publickey-hostbound-v00@openssh.com");
	if ((hostbound && !wire_string(&data, &host)) || data.len ||
	    (!hostbound && !blob_is(method, "publickey")) || has_signature != 1 ||
	    !blob_is(service, "ssh-connection") || !blob_is(name, algorithm) ||
	    !blob_equal(key, blob_of(keys, KEY_DEPLOY)) || user.len >= KEY_USER ||
	    memchr(user.p, 0, user.len))
		return KEY_OTHER_USE;
	if (binding->failed)
		return binding->pin ? KEY_BAD_BINDING : KEY_NOT_PINNED;
	if (!binding->bound)
		return KEY_NOT_BOUND;
	if (!blob_equal(session, (struct blob){ binding->session, binding->session_len }) ||
	    (hostbound && !blob_equal(host, binding->pin->key)))
		return KEY_BAD_BINDING;
	memcpy(wish->user, user.p, user.len);
	wish->user[user.len] = '\0';
	wish->host = binding->pin->host;
	return -1;
}

/* OpenSSH's PROTOCOL.sshsig. */
static int judge_message(struct blob data)
{
	static const char magic[] = "SSHSIG";
	struct blob space, reserved, hash, digest;

	if (data.len < sizeof(magic) - 1 || memcmp(data.p, magic, sizeof(magic) - 1) != 0)
		return KEY_OTHER_USE;
	data.p += sizeof(magic) - 1;
	data.len -= sizeof(magic) - 1;
	if (!wire_string(&data, &space) || !wire_string(&data, &reserved) ||
	    !wire_string(&data, &hash) || !wire_string(&data, &digest) || data.len ||
	    reserved.len ||
	    !((blob_is(hash, "sha512") && digest.len == 64) ||
	      (blob_is(hash, "sha256") && digest.len == 32)))
		return KEY_OTHER_USE;
	return blob_is(space, "git") ? -1 : KEY_OTHER_SPACE;
}

static enum key_outcome sign(const struct keyring *keys, const struct key_binding *binding,
			     struct blob in, struct key_wish *wish, enum key_reason *ret_reason)
{
	struct blob key;
	uint32_t flags;
	int why = KEY_UNKNOWN;

	*ret_reason = KEY_MALFORMED;
	if (!wire_string(&in, &key) || !wire_string(&in, &wish->data) || !wire_u32(&in, &flags) ||
	    in.len)
		return KEY_DENIED;
	for (enum key_role role = 0; role < KEY_ROLES; role++) {
		if (!keys->has[role] || !blob_equal(key, blob_of(keys, role)))
			continue;
		wish->role = role;
		why = role == KEY_DEPLOY ? judge_login(keys, binding, wish->data, wish)
					 : judge_message(wish->data);
	}
	if (why < 0)
		return KEY_WISH;
	*ret_reason = (enum key_reason)why;
	return KEY_DENIED;
}

/* --- binding --- */

/* Once and for all: a connection that was bound wrongly, or twice, logs in nowhere. */
static enum key_outcome bind_session(const struct keyring *keys, struct key_binding *binding,
				     struct blob in, enum key_reason *ret_reason)
{
	struct blob host, session, signature;
	uint8_t forwarded;
	bool again = binding->bound || binding->failed;

	*ret_reason = KEY_MALFORMED;
	if (!wire_string(&in, &host) || !wire_string(&in, &session) ||
	    !wire_string(&in, &signature) || !wire_byte(&in, &forwarded) || in.len)
		return KEY_DENIED;
	binding->failed = true;
	binding->bound = false;
	*ret_reason = KEY_BAD_BINDING;
	if (!again)
		binding->pin = pins_find(&keys->pins, host);
	if (again)
		return KEY_DENIED;
	if (!binding->pin) {
		*ret_reason = KEY_NOT_PINNED;
		return KEY_DENIED;
	}
	if (forwarded || session.len < 32 || session.len > sizeof(binding->session) ||
	    !crypto_verify(host, signature, session))
		return KEY_DENIED;
	memcpy(binding->session, session.p, session.len);
	binding->session_len = session.len;
	binding->failed = false;
	binding->bound = true;
	return KEY_REPLY;
}

static enum key_outcome extension(const struct keyring *keys, struct key_binding *binding,
				  struct blob in, struct wire_out *reply,
				  enum key_reason *ret_reason)
{
	struct blob name;
	enum key_outcome outcome = KEY_DENIED;

	if (!wire_string(&in, &name))
		*ret_reason = KEY_MALFORMED;
	else if (!blob_is(name, "session-bind@openssh.com"))
		*ret_reason = KEY_NOT_OFFERED;
	else
		outcome = bind_session(keys, binding, in, ret_reason);
	if (outcome == KEY_REPLY)
		short_reply(reply, AGENT_SUCCESS);
	return outcome;
}

bool key_request_is_dear(struct blob request)
{
	return request.len &&
	       (request.p[0] == AGENT_SIGN_REQUEST || request.p[0] == AGENT_EXTENSION);
}

enum key_outcome key_request(const struct keyring *keys, struct key_binding *binding,
			     struct blob request, struct wire_out *reply, struct key_wish *ret_wish,
			     enum key_reason *ret_reason)
{
	enum key_outcome outcome = KEY_DENIED;
	uint8_t type = 0;

	key_refuse(reply);
	*ret_wish = (struct key_wish){ 0 };
	*ret_reason = KEY_NOT_OFFERED;
	if (!wire_byte(&request, &type)) {
		*ret_reason = KEY_MALFORMED;
	} else if (type == AGENT_REQUEST_IDENTITIES) {
		list(keys, reply);
		outcome = KEY_REPLY;
	} else if (type == AGENT_SIGN_REQUEST) {
		outcome = sign(keys, binding, request, ret_wish, ret_reason);
	} else if (type == AGENT_EXTENSION) {
		outcome = extension(keys, binding, request, reply, ret_reason);
	}
	return outcome;
}
