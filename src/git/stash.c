/* SPDX-License-Identifier: MIT */
/* The stash as a set of commits: what one side added the other gets, what the session dropped goes. */
#include <errno.h>
#include <string.h>

#include "git/priv.h"

static int store_one(struct git_round *round, bool inwards, const struct git_item *item,
		     struct err *err)
{
	_cleanup_str_ struct str message = { 0 };
	struct git_run run;
	char *change = arena_printf(&round->arena, "update refs/stash %s\n", item->name);

	str_add_escaped(&message, item->value);
	{
		const char *const args[] = {
			"update-ref", "--create-reflog",
			"-m",         message.s && *message.s ? message.s : "stash",
			"refs/stash", item->name,
			NULL
		};

		run = git_change(round->store, inwards, args, change);
		round->changed = true;
		return git_do(&run, NULL, err);
	}
}

/* It stays in reach under a name of ours. */
static int drop_one(struct git_round *round, size_t at, const char *oid, struct err *err)
{
	char *name = arena_printf(&round->arena, "refs/stash@{%zu}", at);
	char *backup = arena_printf(&round->arena, "refs/wrapix/%s/stash/%s", round->store->id,
				    oid);
	const struct git_items *stash = &round->host.stash;
	const char *top = stash->n < 2 ? "" : stash->v[at == 0].name;
	struct arena *a = &round->arena;
	struct git_run keep = git_change(round->store, false, GIT_ARGS("update-ref", backup, oid),
					 arena_printf(a, "update %s %s\n", backup, oid));
	struct git_run drop = git_change(
		round->store, false, GIT_ARGS("reflog", "delete", "--updateref", "--rewrite", name),
		arena_printf(a, "reflog refs/stash %s\n", top));
	int r = git_do(&keep, NULL, err);

	round->changed = true;
	if (r == 0)
		r = git_do(&drop, NULL, err);
	/* The reference outlives its last entry. */
	if (r == 0 && round->host.stash.n == 1) {
		struct git_run last = git_change(round->store, false,
						 GIT_ARGS("update-ref", "-d", "refs/stash", oid),
						 arena_printf(a, "delete refs/stash %s\n", oid));

		if (git_run(&last, NULL) < 0)
			r = err_set(err, EAGAIN, "the git that drops a stash was killed");
	}
	return r;
}

int git_apply_stash(struct git_round *round, struct err *err)
{
	const struct git_items *base = &round->base.stash, *session = &round->session.stash;
	struct git_items *host = &round->host.stash;
	struct err ignored;
	int r = 0;

	/* From the end, so that the numbers before it stay true. */
	for (size_t i = host->n; r == 0 && i-- > 0;)
		if (git_find(base, host->v[i].name) && !git_find(session, host->v[i].name)) {
			r = drop_one(round, i, host->v[i].name, err);
			memmove(&host->v[i], &host->v[i + 1], (host->n - i - 1) * sizeof(*host->v));
			host->n--;
		}
	for (size_t i = session->n; r == 0 && i-- > 0;)
		if (!git_find(base, session->v[i].name) && !git_find(host, session->v[i].name))
			r = store_one(round, false, &session->v[i], err);
	for (size_t i = host->n; r == 0 && i-- > 0;)
		if (!git_find(base, host->v[i].name) && !git_find(session, host->v[i].name))
			store_one(round, true, &host->v[i], &ignored); /* or the next time */
	return r;
}
