/* SPDX-License-Identifier: MIT */
/* What keys are read from: the first byte says whether the rest is a private key, a list of hosts, a
 * public key's line, or the URL of a remote. */
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "keys/forge.h"
#include "keys/pins.h"
#include "keys/privkey.h"
#include "spec/deploykey.h"
#include "fuzz.h"

static void try_private(const char *text, size_t len)
{
	uint8_t seed[ED25519_KEY], public[ED25519_KEY];
	char *copy = malloc(len + 1); /* of exactly this length, for the sanitizer */
	struct err err;

	memcpy(copy, text, len);
	privkey_parse(copy, len, seed, public, &err);
	free(copy);
}

/* A pin is found again by its own key, and its text is canonical. */
static void try_hosts(const char *text)
{
	struct pins pins = { .v = NULL };
	struct err err;

	if (pins_add(&pins, text, "f", &err) == 0)
		for (size_t i = 0; i < pins.n; i++) {
			_cleanup_str_ struct str out = { 0 };

			base64_add(&out, pins.v[i].key.p, pins.v[i].key.len);
			if (!pins_find(&pins, pins.v[i].key) || !strstr(text, out.s))
				abort();
		}
	pins_release(&pins);
}

/* Nothing of it is an option, or more than a shell's word between single quotes. */
static void try_remote(struct arena *arena, const char *text)
{
	_cleanup_str_ struct str out = { 0 };
	struct remote remote;

	if (!remote_parse(arena, text, &remote))
		return;
	if (strpbrk(remote.path, "' \n\t\"`$\\;&|<>()") || strpbrk(remote.host, "' /@:") ||
	    remote.host[0] == '-' || remote.user[0] == '-' || remote.path[0] == '-' ||
	    !remote.name[0])
		abort();
	forge_add_places(&out, &remote, true);
	remote_pin(arena, &remote);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { 0 };
	char *text;

	if (!size)
		return 0;
	text = arena_strndup(&arena, (const char *)data + 1, size - 1);
	switch (data[0]) {
	case 'k':
		try_private((const char *)data + 1, size - 1);
		break;
	case 'h':
		try_hosts(text);
		break;
	case 'p':
		(void)deploy_key_public(&arena, text);
		break;
	default:
		try_remote(&arena, text);
	}
	arena_release(&arena);
	return 0;
}
