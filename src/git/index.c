/* SPDX-License-Identifier: MIT */
/*
 * The index: path by path, three ways. Only modes, object names and stages travel; flags, extensions
 * and times never do, so nothing can be hidden from 'git status', and nothing is refreshed, which
 * would run the user's filters.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/path.h"
#include "git/priv.h"

enum { LOCK_WAIT_MS = 2000, LOCK_STEP_MS = 50 };

static void replace(struct str *out, const char *path, const char *old, const char *new)
{
	/* Taken out first: other stages of it may be there. */
	if (old) {
		const char *oid = old + 7;

		str_add(out, "0 ");
		for (size_t i = 0; i < strcspn(oid, " "); i++)
			str_add(out, "0");
		str_addf(out, "\t%s", path);
		str_addn(out, "", 1);
	}
	if (new)
		git_index_lines(out, &(struct git_item){ path, new });
}

static void want_blobs(struct git_round *round, const char *entries)
{
	for (const char *p = entries; *p;) {
		size_t len = strcspn(p, "\n");

		if (!str_starts(p, "160000")) /* a submodule's commit is not ours */
			git_want(round, arena_strndup(&round->arena, p + 7, len - 9));
		p += len + (p[len] == '\n');
	}
}

static int plan_path(void *ctx, const char *name, const char *base, const char *session,
		     const char *host, struct err *err)
{
	struct git_round *round = ctx;

	(void)err;
	if (git_same(session, host))
		return 0;
	if (git_same(session, base)) {
		replace(&round->index_in, name, session, host);
	} else if (git_same(host, base)) {
		if (session)
			want_blobs(round, session);
		replace(&round->index_out, name, host, session);
		round->report->published++;
	} /* else both sides changed it: each keeps its own, and what is in the file shows it */
	return 0;
}

/* Both stand on one branch and went different ways on it: the index of one says nothing to the other. */
static bool heads_diverged(const struct git_round *round)
{
	const char *head = round->session.head, *base, *session, *host;

	if (!head || !str_starts(head, "ref: ") || !git_same(head, round->host.head))
		return false;
	base = git_find(&round->base.refs, head + 5);
	session = git_find(&round->session.refs, head + 5);
	host = git_find(&round->host.refs, head + 5);
	return !git_same(session, host) && !git_same(session, base) && !git_same(host, base);
}

int git_plan_index(struct git_round *round, struct err *err)
{
	if (heads_diverged(round))
		return 0;
	return git_each(&round->base.index, &round->session.index, &round->host.index, plan_path,
			round, err);
}

static int update(struct git_round *round, bool inwards, const struct str *lines)
{
	const char *const args[] = { "update-index", "-z", "--index-info", NULL };
	struct git_run run = inwards ? git_in_private(round->store, args, true)
				     : git_on_host(round->store, args);

	run.input = lines->s;
	run.input_len = lines->len;
	run.seconds = 60;
	return git_run(&run, NULL);
}

int git_apply_index(struct git_round *round, struct err *err)
{
	char *lock = path_join(&round->arena, round->store->real, "index.lock");
	int status = 0;

	if (round->index_out.len) {
		for (int waited = 0; waited < LOCK_WAIT_MS && access(lock, F_OK) == 0;
		     waited += LOCK_STEP_MS)
			poll(NULL, 0, LOCK_STEP_MS);
		status = update(round, false, &round->index_out);
		round->changed = true;
	}
	if (status != 0)
		return err_set(err, EAGAIN, "the host's index is locked ('%s')", lock);
	if (round->index_in.len) {
		update(round, true, &round->index_in); /* or the next time */
		round->changed = true;
	}
	return 0;
}
