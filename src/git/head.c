/* SPDX-License-Identifier: MIT */
/* HEAD: which branch each side stands on, or which commit. */
#include <string.h>

#include "git/priv.h"

/* As git says it in a HEAD's log. */
static const char *name_of(const char *head)
{
	return str_starts(head, "ref: refs/heads/") ? head + strlen("ref: refs/heads/") : head;
}

/* 'git checkout -' reads this in the log: what stands before "to" is where it goes back to. Neither name has a space in it. */
static char *moving(struct git_round *round, const char *from, const char *to)
{
	return arena_printf(&round->arena, "checkout: moving from %s to %s (wrapix %s)",
			    name_of(from), name_of(to), round->store->id);
}

static int set_head(struct git_round *round, bool inwards, const char *old, const char *head,
		    struct err *err)
{
	char *message = moving(round, old, head);
	const char *const branch[] = { "symbolic-ref", "-m", message, "HEAD", head + 5, NULL };
	const char *const detached[] = { "update-ref", "--no-deref", "-m", message,
					 "HEAD",       head,         NULL };
	const char *const *args = str_starts(head, "ref: ") ? branch : detached;
	char *change = arena_printf(&round->arena, "%s HEAD %s\n",
				    str_starts(head, "ref: ") ? "symref" : "update",
				    str_starts(head, "ref: ") ? head + 5 : head);
	struct git_run run = git_change(round->store, inwards, args, change);
	int r = git_do(&run, NULL, err);

	round->changed = true;
	round->moved_head = r == 0 ? head : NULL;
	return r;
}

/* Who commits on a HEAD without a branch in the moment before it moves has that commit nowhere else: its log tells. */
static void keep_detached(struct git_round *round, const char *host)
{
	struct git_run run = git_on_host(round->store,
					 GIT_ARGS("rev-parse", "-q", "--verify", "HEAD@{1}"));
	char *ref = arena_printf(&round->arena, "refs/wrapix/%s/was/HEAD", round->store->id);
	_cleanup_str_ struct str was = { 0 };
	char *line;

	if (git_run(&run, &was) != 0 || !was.s)
		return;
	was.s[strcspn(was.s, "\n")] = '\0';
	if (!git_oid_ok(was.s, strlen(was.s)) || !strcmp(was.s, host))
		return;
	line = arena_printf(&round->arena, "update %s %s", ref, was.s);
	if (git_write_refs(round, false, &line, 1) == 0)
		git_keep(round->report, "moved", "HEAD",
			 arena_printf(&round->report->arena, "what you had is kept as %s", ref));
}

int git_apply_head_out(struct git_round *round, struct err *err)
{
	const char *base = round->base.head, *session = round->session.head;
	const char *host = round->host.head;
	int r;

	if (!session)
		git_hold(round->report, "head", "HEAD", "the host takes no such HEAD");
	round->together = session && git_same(session, host);
	if (!session || !host || git_same(session, host) || git_same(session, base))
		return 0;
	/* A rebase inside stands here and there before it comes to its end. */
	if (!round->last && git_has_list(round->store->private))
		return 0;
	if (!git_same(host, base)) {
		git_hold(round->report, "head", "HEAD", "both sides checked something else out");
		return 0;
	}
	if (git_host_is_busy(round)) {
		git_hold(round->report, "head", "HEAD",
			 "the host is in the middle of a rebase, merge or bisection");
		return 0;
	}
	round->report->published++;
	git_step(round->store, "head");
	r = set_head(round, false, host, session, err);
	round->together = r == 0;
	if (r == 0 && !str_starts(host, "ref: "))
		keep_detached(round, host);
	return r;
}

void git_apply_head_in(struct git_round *round)
{
	const char *session = round->session.head, *host = round->host.head;
	struct err ignored;

	if (session && host && !git_same(session, host) && git_same(session, round->base.head))
		set_head(round, true, session, host, &ignored); /* or the next time */
}
