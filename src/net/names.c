/* SPDX-License-Identifier: MIT */
/*
 * The one form of a host name, and the table of synthetic addresses.
 *
 * Theory of operation: a name hashes to one of NAMES_SLOTS addresses; when that one is taken by
 * another name, the next ones of a fixed sequence are tried. A slot holds the number of its name,
 * so both directions are a look into one array. At most one slot in eight is ever used, so nearly
 * every name keeps its address from run to run, and probing is short. The sandbox chooses the names
 * (below an allowed wildcard) and can make them collide: the search ends after NAMES_PROBES, and
 * the name is refused as if the table were full. Names are never dropped: an address that was given
 * out must not come to mean somebody else.
 */
#include "net/names.h"

#include <errno.h>
#include <string.h>

#define V4_FIRST 0xc6120100u /* 198.18.1.0 */

struct names {
	size_t n;
	uint16_t slots[NAMES_SLOTS]; /* number of the name + 1; 0: free */
	char text[NAMES_MAX][NAME_SIZE];
};

/* What inet_aton() and URL parsers take for the last part of an address. */
static bool label_is_number(const char *label)
{
	if (label[0] == '0' && label[1] == 'x')
		return !label[2 + strspn(label + 2, "0123456789abcdef")];
	return !label[strspn(label, "0123456789")];
}

int name_byte(unsigned char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A' + 'a';
	if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_')
		return c;
	return -1;
}

bool name_canonical(const char *text, size_t len, char ret[NAME_SIZE])
{
	char name[NAME_SIZE];
	size_t label = 0; /* where the present one begins */

	if (len && text[len - 1] == '.')
		len--;
	if (!len || len >= NAME_SIZE)
		return false;
	for (size_t i = 0; i <= len; i++) {
		int c;

		if (i == len || text[i] == '.') {
			if (i == label || i - label > 63)
				return false;
			name[i] = i == len ? '\0' : '.';
			if (i < len)
				label = i + 1;
			continue;
		}
		c = name_byte((unsigned char)text[i]);
		if (c < 0)
			return false;
		name[i] = (char)c;
	}
	if (label_is_number(name + label))
		return false;
	memcpy(ret, name, len + 1);
	return true;
}

bool name_is_below(const char *name, const char *parent)
{
	size_t n = strlen(name), p = strlen(parent);

	return p && n > p + 1 && name[n - p - 1] == '.' && !strcmp(name + n - p, parent);
}

struct names *names_new(void)
{
	return calloc(1, sizeof(struct names));
}

void names_free(struct names *names)
{
	free(names);
}

void names_freep(struct names **names)
{
	names_free(*names);
}

/* FNV-1a, then mixed so that the low bits depend on all. Never changes: addresses follow from it. */
static uint32_t name_hash(const char *name)
{
	uint32_t h = 2166136261u;

	for (const char *p = name; *p; p++)
		h = (h ^ (unsigned char)*p) * 16777619u;
	h = (h ^ (h >> 16)) * 0x85ebca6bu;
	h = (h ^ (h >> 13)) * 0xc2b2ae35u;
	return h ^ (h >> 16);
}

/* The name's slot, or the first free one of its sequence, or -ENOSPC. */
static int find_slot(const struct names *names, const char *name)
{
	uint32_t at = name_hash(name);

	for (uint32_t i = 1; i <= NAMES_PROBES; i++) {
		uint32_t slot = at % NAMES_SLOTS;
		uint16_t number = names->slots[slot];

		if (!number || !strcmp(names->text[number - 1], name))
			return (int)slot;
		at += i;
	}
	return -ENOSPC;
}

int names_add(struct names *names, const char *name)
{
	int slot = find_slot(names, name);
	size_t len = strlen(name);

	if (slot < 0 || names->slots[slot])
		return slot;
	if (names->n == NAMES_MAX || len >= NAME_SIZE)
		return -ENOSPC;
	memcpy(names->text[names->n++], name, len + 1);
	names->slots[slot] = (uint16_t)names->n;
	return slot;
}

size_t names_count(const struct names *names)
{
	return names->n;
}

struct address names_v4(int slot)
{
	return address_v4(V4_FIRST + (uint32_t)slot);
}

struct address names_v6(int slot)
{
	uint32_t n = (uint32_t)slot + 1;

	return (struct address){ { 0xfd, 0x53, 0xb0, 0xc5, [7] = 1, [13] = (uint8_t)(n >> 16),
				   (uint8_t)(n >> 8), (uint8_t)n } };
}

/* The slot that has this address, or -1. */
static int slot_at(const struct address *addr)
{
	struct address first = names_v6(-1); /* all of its low bits are zero */
	uint32_t n = address_to_v4(addr);

	if (address_is_v4(addr))
		n -= V4_FIRST;
	else if (!memcmp(addr->b, first.b, 12))
		n -= 1;
	else
		return -1;
	return n < NAMES_SLOTS ? (int)n : -1;
}

const char *names_at(const struct names *names, const struct address *addr)
{
	int slot = slot_at(addr);

	return slot >= 0 && names->slots[slot] ? names->text[names->slots[slot] - 1] : NULL;
}

bool names_is_synthetic(const struct address *addr)
{
	return slot_at(addr) >= 0;
}
