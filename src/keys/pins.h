/* SPDX-License-Identifier: MIT */
/* Pinned host keys: the lines of a known_hosts file, as keys that can be looked up. Pure. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "keys/wire.h"

struct pin {
	char *host;      /* as it stands in the file: "github.com", "[host]:2222", "a,b" */
	char *algorithm; /* "ssh-ed25519" */
	struct blob key;
};

struct pins {
	struct arena arena;
	struct pin *v;
	size_t n;
};

/* Adds every line of the text; a line that is not "HOSTS ALGORITHM BASE64 [COMMENT]" is an error that
 * begins "origin:line: ". */
int pins_add(struct pins *pins, const char *text, const char *origin, struct err *err);
/* Who has this key; NULL: nobody. */
const struct pin *pins_find(const struct pins *pins, struct blob key);
void pins_release(struct pins *pins);

/* "SHA256:..." as ssh-keygen -l prints it. */
void fingerprint_add(struct str *out, struct blob key);

/* A public key as a line, "ALGORITHM BASE64 [COMMENT]": decodes it into the arena; false when it is
 * something else. ret_algorithm may be NULL. */
bool public_key_parse(struct arena *arena, const char *line, char **ret_algorithm,
		      struct blob *ret_key);
