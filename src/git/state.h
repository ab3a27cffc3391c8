/* SPDX-License-Identifier: MIT */
/*
 * The state of a repository as data: references, HEAD, index, stash, configuration. The same for the
 * host, for the session and for the base they are compared with. The parsers are pure, and take
 * hostile text: what has no place in a repository of the host's is refused, not repaired.
 */
#pragma once

#include "git/run.h"

/* One thing under a name: a reference and its object, a path and its entries ("MODE OID STAGE", one
 * to a line), an object of the stash and its message. */
struct git_item {
	const char *name, *value;
};

struct git_items {
	struct git_item *v; /* sorted by name, but for the stash: newest first */
	size_t n;
	bool sorted;
	bool flagged; /* of an index: some entry says more than that */
};

struct git_state {
	struct git_items refs, index, stash;
	const char *head; /* "ref: refs/heads/..." or an object's name */
	const char *config;
	size_t config_len;
	/* What the index was as a file when the rest was read; in the base of both sides, "" where the
	 * two did not agree on all of it. */
	const char *mark;
	bool mark_new; /* too new to be noted */
	/* MERGE_HEAD ...: objects, joined by commas; rebase-merge ...: a sum. */
	struct git_items ops;
	struct git_items made; /* references the session made (base only) */
};

#define GIT_INDEX_MAX ((size_t)256 << 20)
enum { GIT_REFS_MAX = 50000, GIT_NEW_REFS_MAX = 1000 };

bool git_oid_ok(const char *oid, size_t len);
/* A branch or a tag that the host may get, or what a remote had. */
bool git_ref_ok(const char *name);
bool git_path_ok(const char *path);

/* "OID NAME\n"... Symbolic references ("OID NAME TARGET") are passed over. 0 or -EINVAL. */
int git_parse_refs(struct arena *arena, const char *text, size_t len, struct git_items *ret);
/* As 'git ls-files -s -z' prints it. */
int git_parse_index(struct arena *arena, const char *text, size_t len, struct git_items *ret);
/* "OID MESSAGE\n"..., newest first. */
int git_parse_stash(struct arena *arena, const char *text, size_t len, struct git_items *ret);
/* The content of HEAD; NULL when it is none that the host may get. */
const char *git_parse_head(struct arena *arena, const char *text, size_t len);

/* The same from files, without a git: -EINVAL for what is odd, -ENOTSUP for what only git can read. */
int git_index_read(struct arena *arena, const void *data, size_t len, bool sha256,
		   struct git_items *ret);
int git_parse_packed(struct arena *arena, const char *text, size_t len, struct git_items *ret);
int git_parse_reflog(struct arena *arena, const char *text, size_t len, struct git_items *ret);
/* 'dir' is the git directory. 'symbolic' (or NULL) gets the names that lead to others. */
int git_refs_read(struct arena *arena, int dir, struct git_items *ret, struct strv *symbolic);
int git_ops_read(struct arena *arena, int dir, struct git_items *ret);
int git_parse_ops(struct arena *arena, const char *text, size_t len, struct git_items *ret);
const char *git_parse_op(struct arena *arena, const char *text, size_t len);
int git_stash_read(struct arena *arena, int dir, struct git_items *ret);
/* A regular file (or -ENXIO) and no link: a FIFO would hang, a link lead elsewhere. */
int git_read_file(int dir, const char *name, size_t max, char **ret, size_t *ret_len);

/* By name; -EINVAL when one is there twice. */
int git_sort(struct git_items *items);
const char *git_find(const struct git_items *items, const char *name);
void git_add_item(struct arena *arena, struct git_items *items, const char *name,
		  const char *value);
bool git_same(const char *a, const char *b); /* either may be NULL */

/* Its entries as 'git update-index -z --index-info' takes them, and 'ls-files' prints them. */
void git_index_lines(struct str *out, const struct git_item *item);

/* Calls fn for each name of the three lists, in order; a value is NULL where there is none. */
typedef int git_each_fn(void *ctx, const char *name, const char *base, const char *session,
			const char *host, struct err *err);
int git_each(const struct git_items *base, const struct git_items *session,
	     const struct git_items *host, git_each_fn *fn, void *ctx, struct err *err);

/* The names of its objects are of the longer kind. */
bool git_is_sha256(const struct git_store *store);
/* All but the index, of which only the mark is taken; and the index. */
int git_read_host(struct git_store *store, struct arena *arena, struct git_state *ret,
		  struct err *err);
int git_read_private(struct git_store *store, struct arena *arena, struct git_state *ret,
		     struct err *err);
int git_read_index(struct git_store *store, bool private, struct arena *arena,
		   struct git_state *ret, struct err *err);
/* Of the base: it begins as the host's file itself. */
int git_base_link_index(const struct git_store *store, struct err *err);
int git_base_save_index(const struct git_store *store, const struct git_items *index,
			struct err *err);
int git_base_load_index(struct git_store *store, struct arena *arena, struct git_items *ret,
			struct err *err);

/* A state in one file, old or new, never half: the base, and what a round is about to publish. */
int git_base_save(const struct git_store *store, const char *file, const struct git_state *state,
		  struct err *err);
int git_base_load(const struct git_store *store, const char *file, struct arena *arena,
		  struct git_state *ret, struct err *err);
int git_base_parse(struct arena *arena, const char *text, size_t len, struct git_state *ret);
