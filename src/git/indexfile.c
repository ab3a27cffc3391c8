/* SPDX-License-Identifier: MIT */
/*
 * The index as a file, versions 2 to 4: what 'git ls-files -s' would print, without a git. Whoever
 * wrote it is an attacker. What it cannot read (a split or a sparse index) is left to git.
 */
#include <errno.h>
#include <string.h>

#include "git/state.h"

enum { HEADER = 12, MODE_AT = 24, OID_AT = 40, STAGES = 4, LENGTH = 0xfff, PATH_CAP = 4096 };

struct reader {
	struct arena *arena;
	const unsigned char *p, *end;
	size_t oid_len; /* in bytes */
	unsigned version;
	char path[PATH_CAP]; /* of the last entry, which the next one may begin like */
	size_t path_len;
	struct git_items *ret;
};

static size_t left(const struct reader *r)
{
	return (size_t)(r->end - r->p);
}

/* Version 4: how much of the last path falls away, as git's packs write numbers. */
static bool read_strip(struct reader *r, size_t *ret)
{
	size_t value = 0;

	for (int i = 0; i < 4 && left(r); i++) {
		unsigned char c = *r->p++;

		value = (value << 7) | (c & 127);
		if (!(c & 128)) {
			*ret = value;
			return true;
		}
		value++;
	}
	return false;
}

/* The path at r->p; moves behind it. 'start' is where the entry began, for the padding. */
static bool read_path(struct reader *r, const unsigned char *start)
{
	const unsigned char *nul;
	size_t strip = r->path_len, len, keep;

	if (r->version == 4 && !read_strip(r, &strip))
		return false;
	if (strip > r->path_len)
		return false;
	keep = r->version == 4 ? r->path_len - strip : 0;
	nul = memchr(r->p, 0, left(r));
	len = nul ? (size_t)(nul - r->p) : 0;
	if (!nul || keep + len >= sizeof(r->path))
		return false;
	memcpy(r->path + keep, r->p, len);
	r->path_len = keep + len;
	r->path[r->path_len] = '\0';
	r->p = nul + 1;
	/* Up to version 3 one to eight zeros end it, at a multiple of eight. */
	if (r->version < 4) {
		size_t size = ((size_t)(nul - start) + 8) & ~(size_t)7;

		if (size > (size_t)(r->end - start))
			return false;
		r->p = start + size;
	}
	return true;
}

/* "MODE OID STAGE" */
static const char *entry_text(struct reader *r, uint32_t mode, const unsigned char *oid,
			      unsigned stage)
{
	static const char hex[] = "0123456789abcdef";
	char *text = arena_alloc(r->arena, 7 + r->oid_len * 2 + 3), *p = text;

	for (int shift = 15; shift >= 0; shift -= 3)
		*p++ = (char)('0' + (mode >> shift & 7));
	*p++ = ' ';
	for (size_t i = 0; i < r->oid_len; i++) {
		*p++ = hex[oid[i] >> 4];
		*p++ = hex[oid[i] & 15];
	}
	*p++ = ' ';
	*p = (char)('0' + stage);
	return text;
}

static bool mode_ok(uint32_t mode)
{
	return mode == 0100644 || mode == 0100755 || mode == 0120000 || mode == 0160000;
}

static int add_entry(struct reader *r, uint32_t mode, const unsigned char *oid, unsigned stage)
{
	struct git_item *last = r->ret->n ? &r->ret->v[r->ret->n - 1] : NULL;
	int order = last ? strcmp(last->name, r->path) : -1;
	const char *text;

	if (mode == 0040000 || !r->path_len)
		return -ENOTSUP; /* a sparse index; a split one */
	if (!mode_ok(mode) || !git_path_ok(r->path) || order > 0)
		return -EINVAL;
	text = entry_text(r, mode, oid, stage);
	if (order == 0) /* another stage of it */
		last->value = arena_printf(r->arena, "%s\n%s", last->value, text);
	else
		git_add_item(r->arena, r->ret, arena_strndup(r->arena, r->path, r->path_len), text);
	return 0;
}

static int read_entry(struct reader *r)
{
	const unsigned char *start = r->p;
	size_t flags_at = OID_AT + r->oid_len;
	unsigned flags;

	if (left(r) < flags_at + 2)
		return -EINVAL;
	flags = (unsigned)start[flags_at] << 8 | start[flags_at + 1];
	r->p += flags_at + 2;
	r->ret->flagged |= (flags & 0xc000) !=
			   0; /* assume-unchanged, skip-worktree, intent-to-add */
	if (flags & 0x4000) { /* there are more of them */
		if (r->version < 3 || left(r) < 2)
			return -EINVAL;
		r->p += 2;
	}
	/* By its length git finds the next entry. */
	if (!read_path(r, start) || (flags & LENGTH) != MIN(r->path_len, (size_t)LENGTH))
		return -EINVAL;
	return add_entry(r, load_be32(start + MODE_AT), start + OID_AT, flags >> 12 & (STAGES - 1));
}

/* Extensions: 'link' (split) and 'sdir' (sparse) change what the entries mean. */
static int check_extensions(struct reader *r)
{
	while (left(r) >= 8 + r->oid_len) {
		uint32_t size = load_be32(r->p + 4);

		if (!memcmp(r->p, "link", 4) || !memcmp(r->p, "sdir", 4))
			return -ENOTSUP;
		if (size > left(r) - 8)
			return -EINVAL;
		r->p += 8 + size;
	}
	return 0;
}

int git_index_read(struct arena *arena, const void *data, size_t len, bool sha256,
		   struct git_items *ret)
{
	struct reader r = {
		.arena = arena,
		.p = (const unsigned char *)data + HEADER,
		.end = (const unsigned char *)data + len,
		.oid_len = sha256 ? 32 : 20,
		.ret = ret,
	};
	uint32_t n;
	int e = 0;

	*ret = (struct git_items){ .sorted = true };
	if (len < HEADER || memcmp(data, "DIRC", 4) != 0)
		return -EINVAL;
	r.version = load_be32((const char *)data + 4);
	n = load_be32((const char *)data + 8);
	if (r.version < 2 || r.version > 4)
		return -ENOTSUP;
	for (uint32_t i = 0; e == 0 && i < n; i++)
		e = read_entry(&r);
	return e < 0 ? e : check_extensions(&r);
}
