/* SPDX-License-Identifier: MIT */
/*
 * What both sides last agreed on, the base that they are compared with.
 *
 * Both sides go on while we work: what the host has now may be what the session had when the round
 * began. Wherever one side now has what the other had or has, they agreed on that; and on what the round
 * moved itself.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "git/priv.h"

#define PENDING "pending"

int git_read_indexes(struct git_round *round, struct err *err)
{
	struct arena *a = &round->arena;
	int r;

	if (round->index_same)
		return 0;
	r = git_read_index(round->store, true, a, &round->session, err);
	return r < 0 ? r : git_read_index(round->store, false, a, &round->host, err);
}

/* The marks of both sides; "" when one of them says nothing. */
static const char *join_marks(struct git_round *round)
{
	const char *session = round->session.mark, *host = round->host.mark;

	return *session && *host ? arena_printf(&round->arena, "%s %s", session, host) : "";
}

static bool same_items(const struct git_items *a, const struct git_items *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->v[i].name, b->v[i].name) != 0 ||
		    strcmp(a->v[i].value, b->v[i].value) != 0)
			return false;
	return true;
}

struct merge {
	struct git_round *round;
	struct git_items into;
};

static int merge_one(void *ctx, const char *name, const char *base, const char *session,
		     const char *host, struct err *err)
{
	struct merge *merge = ctx;
	const char *value = git_same(session, host) ? session : base;

	(void)err;
	if (str_starts(name, "refs/") && !git_ref_travels(merge->round->store, name))
		return 0;
	if (value)
		git_add_item(&merge->round->arena, &merge->into, name, value);
	return 0;
}

/* What we moved ourselves the two have agreed on, however quickly one of them went on from there. */
static int merge_moved(void *ctx, const char *name, const char *base, const char *moved,
		       _unused_ const char *host, _unused_ struct err *err)
{
	struct merge *merge = ctx;

	git_add_item(&merge->round->arena, &merge->into, name, moved ? moved : base);
	return 0;
}

static void merge_items(struct git_round *round, git_each_fn *fn, struct git_items *base,
			const struct git_items *session, const struct git_items *host)
{
	struct merge merge = { .round = round, .into.sorted = true };
	struct err ignored;

	git_each(base, session, host, fn, &merge, &ignored);
	*base = merge.into;
}

static void agree_on_moved(struct git_round *round)
{
	git_sort(&round->moved);
	merge_items(round, merge_moved, &round->base.refs, &round->moved, &round->moved);
	if (round->moved_head)
		round->base.head = round->moved_head;
}

/* The base becomes, wherever the two agree, what they agree on. */
static void agree(struct git_round *round, const struct git_state *session,
		  const struct git_state *host)
{
	struct git_state *base = &round->base;

	merge_items(round, merge_one, &base->refs, &session->refs, &host->refs);
	if (!round->index_same)
		merge_items(round, merge_one, &base->index, &session->index, &host->index);
	if (git_same(session->head, host->head))
		base->head = host->head;
	merge_items(round, merge_one, &base->ops, &session->ops, &host->ops);
}

static void add_common(struct git_round *round, struct git_items *into, const struct git_items *a,
		       const struct git_items *b)
{
	for (size_t i = 0; i < a->n; i++)
		if (git_find(b, a->v[i].name) && !git_find(into, a->v[i].name))
			git_add_item(&round->arena, into, a->v[i].name, a->v[i].value);
}

static struct git_items merged_made(struct git_round *round, const struct git_items *refs)
{
	struct git_items into = { 0 };

	for (size_t i = 0; i < round->base.made.n; i++)
		if (git_find(refs, round->base.made.v[i].name))
			git_add_item(&round->arena, &into, round->base.made.v[i].name,
				     round->base.made.v[i].value);
	for (size_t i = 0; i < round->created.len; i++) {
		const char *oid = git_find(refs, round->created.v[i]);

		if (oid && !git_find(&into, round->created.v[i]))
			git_add_item(&round->arena, &into, round->created.v[i], oid);
	}
	git_sort(&into);
	return into;
}

/* The index first: with an old one the marks would say too much. What was pending is then done with. */
static int save_base(struct git_round *round, struct err *err)
{
	struct git_state base = round->base;
	int r = 0;

	if (!round->index_same) {
		r = git_base_save_index(round->store, &base.index, err);
		base.mark = !round->session.mark_new && !round->host.mark_new &&
					    same_items(&round->session.index, &round->host.index)
				    ? join_marks(round)
				    : "";
	}
	base.index = (struct git_items){ 0 };
	if (r == 0)
		r = git_base_save(round->store, "base", &base, err);
	if (r == 0 && round->store->tree)
		r = git_tree_save_refs(round, err);
	if (r == 0 && unlinkat(round->store->dir, PENDING, 0) < 0 && errno != ENOENT)
		r = err_errno(err, errno, "removing '%s/" PENDING "'", round->store->path);
	return r;
}

int git_agree_note(struct git_round *round, const struct git_state *session,
		   const struct git_state *host, struct err *err)
{
	struct git_items stash = { 0 };

	agree_on_moved(round);
	agree(round, session, host);
	agree(round, &round->session, host);
	agree(round, session, &round->host);
	agree(round, &round->session, &round->host);
	add_common(round, &stash, &round->host.stash, &round->session.stash);
	add_common(round, &stash, &round->host.stash, &session->stash);
	add_common(round, &stash, &host->stash, &round->session.stash);
	round->base.stash = stash;
	round->base.made = merged_made(round, &round->base.refs);
	if (!round->config_held) {
		round->base.config = session->config;
		round->base.config_len = session->config_len;
	}
	return save_base(round, err);
}

/* What a round that was broken off wrote to the host is still the session's, and not the user's. */
static void take_pending(struct git_round *round, struct git_state *pending)
{
	if (*pending->mark)
		pending->index = round->base.index;
	agree(round, pending, &round->host);
	agree(round, &round->session, &round->host);
	add_common(round, &round->base.stash, &pending->stash, &round->host.stash);
	for (size_t i = 0; i < pending->made.n; i++)
		if (git_same(git_find(&round->host.refs, pending->made.v[i].name),
			     pending->made.v[i].value))
			strv_add(&round->arena, &round->created, pending->made.v[i].name);
	round->base.made = merged_made(round, &round->base.refs);
}

/* It is the base's before this round says what it is about to write: that may be broken off as well. */
int git_agree_load(struct git_round *round, struct err *err)
{
	struct git_state pending;
	struct err none;
	int r = git_base_load(round->store, "base", &round->arena, &round->base, err);

	if (r == 0 && round->store->tree)
		r = git_tree_load_refs(round, err);
	if (r < 0)
		return r;
	round->index_same = *round->base.mark && !strcmp(round->base.mark, join_marks(round));
	r = git_read_indexes(round, err);
	if (r == 0 && !round->index_same)
		r = git_base_load_index(round->store, &round->arena, &round->base.index, err);
	if (r < 0 || git_base_load(round->store, PENDING, &round->arena, &pending, &none) < 0)
		return r;
	take_pending(round, &pending);
	return save_base(round, err);
}

/* What is about to be written to the host. With a mark its index is the base's. */
int git_agree_pending(struct git_round *round, const struct git_state *session, struct err *err)
{
	struct git_state pending = *session;

	pending.made = merged_made(round, &session->refs);
	pending.mark = round->index_same ? "same" : "";
	return git_base_save(round->store, PENDING, &pending, err);
}
