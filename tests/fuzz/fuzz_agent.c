/* SPDX-License-Identifier: MIT */
/*
 * The ssh-agent's protocol: a connection's requests, each behind a length of two bytes. Whatever comes,
 * every reply is one well-formed message, and nothing is signed that the rules do not allow.
 */
#include <stdlib.h>
#include <string.h>

#include "keys/protocol.h"
#include "spec/deploykey.h"
#include "fuzz.h"

/* The seeds are 32 bytes of 1 and of 2, so that the corpus can name the keys. */
static void load(struct keyring *keys)
{
	struct err err;

	if (crypto_load(&err) < 0 || secret_alloc(&keys->memory, 64, &err) < 0 ||
	    pins_add(&keys->pins, known_hosts_builtin(), "built-in", &err) < 0)
		abort();
	for (int role = 0; role < KEY_ROLES; role++) {
		struct wire_out blob = { .p = keys->blob[role], .size = KEY_BLOB };
		uint8_t public[ED25519_KEY];

		memset(keys->memory.data + 32 * role, role + 1, 32);
		crypto_ed25519_public(keys->memory.data + 32 * role, public);
		wire_put_string(&blob, "ssh-ed25519", 11);
		wire_put_string(&blob, public, sizeof(public));
		keys->has[role] = true;
	}
}

static void check_reply(const struct wire_out *reply)
{
	struct blob in = { reply->p, reply->len };
	uint32_t len;
	uint8_t type;

	if (reply->overflow || !wire_u32(&in, &len) || len != in.len || !wire_byte(&in, &type) ||
	    (type != 5 && type != 6 && type != 12 && type != 14))
		abort();
}

static void check_wish(const struct keyring *keys, const struct key_binding *binding,
		       const struct key_wish *wish, struct wire_out *reply)
{
	if (wish->role == KEY_DEPLOY && (!binding->bound || !wish->host))
		abort();
	if (wish->role == KEY_SIGNING &&
	    (wish->data.len < 13 || memcmp(wish->data.p, "SSHSIG\0\0\0\3git", 13) != 0))
		abort();
	if (keyring_sign(keys, wish, reply) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct keyring keys;
	struct key_binding binding = { 0 };

	if (!keys.memory.data)
		load(&keys);
	while (size > 2) {
		size_t len = MIN((size_t)(data[0] << 8 | data[1]), size - 2);
		uint8_t bytes[AGENT_REPLY];
		struct wire_out reply = { .p = bytes, .size = sizeof(bytes) };
		enum key_reason reason;
		struct key_wish wish;
		enum key_outcome outcome = key_request(
			&keys, &binding, (struct blob){ data + 2, len }, &reply, &wish, &reason);

		if (outcome == KEY_WISH)
			check_wish(&keys, &binding, &wish, &reply);
		else if (outcome == KEY_DENIED && !*key_reason_name(reason))
			abort();
		check_reply(&reply);
		data += 2 + len;
		size -= 2 + len;
	}
	return 0;
}
