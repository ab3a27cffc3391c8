/* SPDX-License-Identifier: MIT */
/*
 * A copy-on-write session's git: the host's branches, index and configuration are none of its business
 * until the user decides. What it committed stands beside them, as refs/wrapix/ID/heads/NAME, and what it stashed as
 * refs/wrapix/ID/stash/OBJECT.
 */
#include <string.h>

#include "git/priv.h"

#define STASH "refs/stash/"

static char *beside(struct git_round *round, const char *name)
{
	return arena_printf(&round->arena, "refs/wrapix/%s/%s", round->store->id,
			    name + strlen("refs/"));
}

static bool is_ours(const char *name)
{
	return str_starts(name, "refs/heads/") || str_starts(name, "refs/tags/");
}

static void plan_ref(struct git_round *round, const struct git_items *start,
		     const struct git_item *ref)
{
	char *name = beside(round, ref->name);
	const char *there = git_find(&round->host.refs, name);

	if (!there && git_same(git_find(start, ref->name), ref->value))
		return;
	if (git_same(there, ref->value)) { /* of an earlier round */
		round->report->published++;
		return;
	}
	if (!git_ref_ok(ref->name)) {
		git_hold(round->report, "branch", ref->name, "the host takes no such name");
		return;
	}
	if (++round->n_new > GIT_NEW_REFS_MAX) {
		git_hold(round->report, "branch", ref->name, "too many at once");
		return;
	}
	git_want(round, ref->value);
	strv_addf(&round->arena, &round->refs_out, "update %s %s", name, ref->value);
}

/* What it put aside, and the host has in no stash of its own: files of the user's, maybe, that are nowhere else once its
 * changes are applied. The newest is the first. */
static void plan_stash(struct git_round *round)
{
	const struct git_items *stash = &round->session.stash;
	struct git_report *report = round->report;

	for (size_t i = 0; i < stash->n && round->n_new < GIT_NEW_REFS_MAX; i++) {
		const char *oid = stash->v[i].name;
		char *name = beside(round, arena_printf(&round->arena, STASH "%s", oid));

		if (git_find(&round->host.stash, oid))
			continue;
		if (!report->n_stashed++)
			report->stashed = arena_strdup(&report->arena, oid);
		if (git_find(&round->host.refs, name))
			continue;
		round->n_new++;
		git_want(round, oid);
		strv_addf(&round->arena, &round->refs_out, "update %s %s", name, oid);
	}
}

static bool has(const struct git_round *round, const char *name)
{
	return str_starts(name, STASH) ? git_find(&round->session.stash, name + strlen(STASH))
				       : git_find(&round->session.refs, name);
}

/* Those that the session no longer has. */
static void plan_gone(struct git_round *round, const struct git_item *ref)
{
	char *prefix = arena_printf(&round->arena, "refs/wrapix/%s/", round->store->id);
	char *name;

	if (!str_starts(ref->name, prefix))
		return;
	name = arena_printf(&round->arena, "refs/%s", ref->name + strlen(prefix));
	if ((is_ours(name) || str_starts(name, STASH)) && !has(round, name))
		strv_addf(&round->arena, &round->refs_out, "delete %s %s", ref->name, ref->value);
}

int git_publish_beside(struct git_round *round, struct err *err)
{
	struct git_store *store = round->store;
	struct git_state start;
	size_t committed = 0;
	int r = git_read_private(store, &round->arena, &round->session, err);

	if (r == 0)
		r = git_read_host(store, &round->arena, &round->host, err);
	if (r == 0)
		r = git_base_load(store, "start", &round->arena, &start, err);
	for (size_t i = 0; r == 0 && i < round->session.refs.n; i++)
		if (is_ours(round->session.refs.v[i].name))
			plan_ref(round, &start.refs, &round->session.refs.v[i]);
	if (r == 0) {
		committed = round->report->published + round->refs_out.len;
		plan_stash(round);
	}
	for (size_t i = 0; r == 0 && i < round->host.refs.n; i++)
		plan_gone(round, &round->host.refs.v[i]);
	if (r == 0)
		r = git_import(round, err);
	if (r == 0)
		r = git_apply_refs_out(round, err);
	round->report->published = committed;
	return r;
}

int git_forget(struct git_store *store, struct err *err)
{
	char *prefix = arena_printf(&store->arena, "refs/wrapix/%s/", store->id);
	size_t ignored;
	int r;

	if (!git_is_same(store)) /* what it published is gone with the repository */
		return git_remove(store, err);
	r = git_begin_turn(store, err);
	if (r == 0)
		r = git_delete_refs(store, prefix, &ignored, err);
	if (store->turn)
		git_end_turn(store);
	return r < 0 ? r : git_remove(store, err);
}
