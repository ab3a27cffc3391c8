/* SPDX-License-Identifier: MIT */
/* Pinned host keys. */
#include "keys/pins.h"

#include <string.h>

#include "base/base64.h"
#include "base/sha256.h"

#define BLANK " \t\r"

/* The next word of a line; "" at its end. */
static char *next_word(struct arena *arena, const char **p)
{
	const char *start = *p + strspn(*p, BLANK);
	size_t len = strcspn(start, BLANK "\n");

	*p = start + len;
	return arena_strndup(arena, start, len);
}

bool public_key_parse(struct arena *arena, const char *line, char **ret_algorithm,
		      struct blob *ret_key)
{
	char *algorithm = next_word(arena, &line), *text = next_word(arena, &line);
	size_t len = strlen(text);
	uint8_t *bytes = arena_alloc(arena, len + 1);
	ssize_t n = base64_decode(text, len, bytes, len);
	struct blob key = { bytes, n < 0 ? 0 : (size_t)n }, rest = key, type;

	if (!*algorithm || !wire_string(&rest, &type) || !blob_is(type, algorithm) || !rest.len)
		return false;
	if (ret_algorithm)
		*ret_algorithm = algorithm;
	*ret_key = key;
	return true;
}

int pins_add(struct pins *pins, const char *text, const char *origin, struct err *err)
{
	unsigned number = 0;

	for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
		const char *p = line + strspn(line, BLANK);
		struct pin pin = { 0 }, *place;

		end = line + strcspn(line, "\n");
		number++;
		if (p >= end || *p == '#')
			continue;
		pin.host = next_word(&pins->arena, &p);
		if (pin.host[0] == '@' ||
		    !public_key_parse(&pins->arena, p, &pin.algorithm, &pin.key))
			return err_usage(err, "%s:%u: not a host and its key", origin, number);
		place = arena_grow(&pins->arena, &pins->v, &pins->n, sizeof(*place));
		*place = pin;
	}
	return 0;
}

const struct pin *pins_find(const struct pins *pins, struct blob key)
{
	for (size_t i = 0; i < pins->n; i++)
		if (blob_equal(pins->v[i].key, key))
			return &pins->v[i];
	return NULL;
}

void pins_release(struct pins *pins)
{
	arena_release(&pins->arena);
	*pins = (struct pins){ 0 };
}

void fingerprint_add(struct str *out, struct blob key)
{
	char hex[SHA256_HEX];
	uint8_t hash[32];

	sha256_hex(key.p, key.len, hex);
	for (size_t i = 0; i < sizeof(hash); i++) {
		const char digits[] = { hex[2 * i], hex[2 * i + 1], '\0' };

		hash[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	str_add(out, "SHA256:");
	base64_add(out, hash, sizeof(hash));
	while (out->s[out->len - 1] == '=')
		out->s[--out->len] = '\0';
}
