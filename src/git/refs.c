/* SPDX-License-Identifier: MIT */
/*
 * Branches and tags. Each is written by comparing and swapping, so that what the user does
 * at the same moment is never lost; the session's side of a divergence gets a reference of its own.
 */
#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "git/priv.h"

enum { HEAD_MAX = 4096, WAS_OID = 12 };

static const char *zeros(const char *like)
{
	static const char all[] =
		"0000000000000000000000000000000000000000000000000000000000000000";

	return all + (64 - strlen(like));
}

/* Who fetches in one command and merges in the next needs what was fetched. */
bool git_ref_travels(const struct git_store *store, const char *name)
{
	return str_starts(name, "refs/heads/") || str_starts(name, "refs/tags/") ||
	       (store->lasting && str_starts(name, "refs/remotes/") &&
		!str_starts(name, "refs/remotes/host/"));
}

static void move(struct git_round *round, struct strv *list, const char *name, const char *new,
		 const char *old)
{
	if (new)
		strv_addf(&round->arena, list, "update %s %s %s", name, new,
			  old ? old : zeros(new));
	else
		strv_addf(&round->arena, list, "delete %s %s", name, old);
}

/* A reference of our own, whatever is there. */
static void keep(struct git_round *round, const char *below, const char *name, const char *oid)
{
	char *ref = arena_printf(&round->arena, "refs/wrapix/%s/%s/%s", round->store->id, below,
				 name + strlen("refs/"));

	if (!git_same(git_find(&round->host.refs, ref), oid))
		strv_addf(&round->arena, &round->refs_out, "update %s %s", ref, oid);
}

/* One that was kept before stays. */
char *git_was_name(struct arena *arena, const struct git_store *store, const struct git_items *refs,
		   const char *name, const char *oid)
{
	char *ref = arena_printf(arena, "refs/wrapix/%s/was/%s", store->id, name + strlen("refs/"));
	const char *there = git_find(refs, ref);

	if (!there || git_same(there, oid))
		return ref;
	return arena_printf(arena, "refs/wrapix/%s/was/%.*s/%s", store->id, WAS_OID, oid,
			    name + strlen("refs/"));
}

static void keep_was(struct git_round *round, const char *name, const char *oid)
{
	char *ref = git_was_name(&round->arena, round->store, &round->host.refs, name, oid);

	if (!git_same(git_find(&round->host.refs, ref), oid))
		strv_addf(&round->arena, &round->refs_out, "update %s %s", ref, oid);
}

void git_want(struct git_round *round, const char *oid)
{
	strv_add(&round->arena, &round->wants, oid);
}

static void diverge(struct git_round *round, const char *name, const char *session,
		    const char *host, const char *why)
{
	git_want(round, session);
	keep(round, "diverged", name, session);
	git_hold(round->report, str_starts(name, "refs/tags/") ? "tag" : "branch", name, why);
	if (host && str_starts(name, "refs/heads/")) {
		char *seen = arena_printf(&round->arena, "refs/remotes/host/%s", name + 11);
		const char *old = git_find(&round->session.refs, seen);

		if (!git_same(old, host))
			move(round, &round->refs_in, seen, host, old);
	}
}

static bool is_ancestor(struct git_round *round, const char *old, const char *new)
{
	struct git_run run = git_on_host(round->store,
					 GIT_ARGS("merge-base", "--is-ancestor", old, new));

	return git_run(&run, NULL) == 0;
}

/* What the host stands on. */
static const char *host_commit(const struct git_round *round)
{
	const char *head = round->host.head;

	return head && str_starts(head, "ref: ") ? git_find(&round->host.refs, head + 5) : head;
}

/* A branch that commands made may be any of them's to delete; what is nowhere else is kept. */
static void keep_deleted(struct git_round *round, const char *name, const char *oid)
{
	const char *head = host_commit(round);

	if (!round->store->lasting || (head && is_ancestor(round, oid, head)))
		return;
	keep_was(round, name, oid);
	git_keep(round->report, "deleted", name,
		 arena_printf(
			 &round->report->arena, "what it was is kept as %s",
			 git_was_name(&round->arena, round->store, &round->host.refs, name, oid)));
}

/* The session no longer has it. */
static void deleted(struct git_round *round, const char *name, const char *base, const char *host)
{
	if (!host)
		return;
	if (git_same(base, host) && git_find(&round->base.made, name)) {
		keep_deleted(round, name, host);
		move(round, &round->refs_out, name, NULL, host);
	} else {
		git_hold(round->report, str_starts(name, "refs/tags/") ? "tag" : "branch", name,
			 "it was deleted in the session");
	}
}

static void outwards(struct git_round *round, const char *name, const char *base,
		     const char *session, const char *host)
{
	bool tag = str_starts(name, "refs/tags/");

	if (!git_ref_ok(name)) {
		git_hold(round->report, tag ? "tag" : "branch", name,
			 "the host takes no such name");
	} else if (tag && base) {
		diverge(round, name, session, host, "a tag that is there was moved");
	} else if (strv_has(&round->elsewhere, name)) {
		diverge(round, name, session, host,
			"it is checked out in another worktree of the host's");
	} else if (!git_same(host, base)) {
		diverge(round, name, session, host,
			"both sides changed it: the session's is kept under refs/wrapix");
	} else if (!base && ++round->n_new > GIT_NEW_REFS_MAX) {
		git_hold(round->report, tag ? "tag" : "branch", name, "too many at once");
	} else {
		git_want(round, session);
		move(round, &round->refs_out, name, session, base);
		if (!base)
			strv_add(&round->arena, &round->created, name);
		if (base) {
			strv_add(&round->arena, &round->rewrites, name);
			strv_add(&round->arena, &round->rewrites, base);
			strv_add(&round->arena, &round->rewrites, session);
		}
	}
}

/* Nobody's own work: the side that fetched last is right, and where both did, each keeps its own. */
static void plan_remote(struct git_round *round, const char *name, const char *base,
			const char *session, const char *host)
{
	if (!git_ref_ok(name))
		return;
	if (git_same(session, base)) {
		move(round, &round->refs_in, name, host, base);
	} else if (git_same(host, base)) {
		if (session)
			git_want(round, session);
		move(round, &round->refs_out, name, session, base);
	}
}

/* A branch goes with the index of the work tree that stands on it; all others with the repository. */
static bool is_ours(const struct git_round *round, const char *name)
{
	const char *head = round->host.head;
	bool stands_on = head && str_starts(head, "ref: ") && !strcmp(head + 5, name);

	return stands_on || (!round->store->tree && !strv_has(&round->carried, name));
}

static int plan_ref(void *ctx, const char *name, const char *base, const char *session,
		    const char *host, struct err *err)
{
	struct git_round *round = ctx;
	const char *head = round->session.head;
	bool stands_on = head && str_starts(head, "ref: ") && !strcmp(head + 5, name);

	(void)err;
	if (!git_ref_travels(round->store, name) || git_same(session, host) ||
	    !is_ours(round, name))
		return 0;
	if (str_starts(name, "refs/remotes/")) {
		plan_remote(round, name, base, session, host);
	} else if (!git_same(session, base)) {
		if (session)
			outwards(round, name, base, session, host);
		else
			deleted(round, name, base, host);
	} else if (git_ref_ok(name) && (host || !stands_on)) {
		move(round, &round->refs_in, name, host, base);
	}
	return 0;
}

/* Branches that belong to somebody who works in another worktree: one whose files are gone is "prunable". */
static void add_elsewhere(struct git_round *round, const char *text)
{
	const char *head = round->host.head;
	const char *own = head && str_starts(head, "ref: ") ? head + 5 : "", *branch = NULL;

	for (const char *line = text; line && *line;) {
		size_t len = strcspn(line, "\n");

		if (str_starts(line, "branch "))
			branch = arena_strndup(&round->arena, line + 7, len - 7);
		else if (str_starts(line, "prunable"))
			branch = NULL;
		line += len + (line[len] == '\n');
		if ((*line == '\n' || !*line) && branch && strcmp(branch, own) != 0)
			strv_add(&round->arena, &round->elsewhere, branch);
		if (*line == '\n')
			branch = NULL;
	}
}

static int find_elsewhere(struct git_round *round, struct err *err)
{
	struct git_run run = git_on_host(round->store, GIT_ARGS("worktree", "list", "--porcelain"));
	_cleanup_str_ struct str out = { 0 };
	int r;

	if (access(path_join(&round->arena, round->store->common, "worktrees"), F_OK) < 0)
		return 0;
	r = git_do(&run, &out, err);
	if (r == 0)
		add_elsewhere(round, out.s);
	return r;
}

static void find_carried(struct git_round *round)
{
	const struct git_store *store = round->store;

	for (size_t i = 0; i < store->n_parts; i++) {
		const struct git_store *part = &store->parts[i];
		_cleanup_close_ int dir = part->tree ? git_open_host(part, part->real) : -1;
		_cleanup_free_ char *text = NULL;
		const char *head;
		size_t len;

		if (dir < 0 || !git_tree_is_there(part) ||
		    git_read_file(dir, "HEAD", HEAD_MAX, &text, &len) < 0)
			continue;
		head = git_parse_head(&round->arena, text, len);
		if (head && str_starts(head, "ref: "))
			strv_add(&round->arena, &round->carried, head + 5);
	}
}

int git_plan_refs(struct git_round *round, struct err *err)
{
	int r = find_elsewhere(round, err);

	find_carried(round);
	if (round->store->closed && round->host.head && str_starts(round->host.head, "ref: "))
		strv_add(&round->arena, &round->elsewhere, round->host.head + 5);
	if (r == 0)
		r = git_each(&round->base.refs, &round->session.refs, &round->host.refs, plan_ref,
			     round, err);
	if (round->session.head && git_oid_ok(round->session.head, strlen(round->session.head)))
		git_want(round, round->session.head);
	return r;
}

/* The name under which all that a branch was is kept: that of this very end, or of one that came of it. */
static const char *find_was(struct git_round *round, const struct git_item *old)
{
	const struct git_items *refs = &round->host.refs;
	const char *name = git_was_name(&round->arena, round->store, refs, old->name, old->value);
	char *all = arena_printf(&round->arena, "refs/wrapix/%s/was", round->store->id);
	const char *branch = old->name + strlen("refs/");

	if (git_find(refs, name))
		return name;
	for (size_t i = 0; i < refs->n; i++) {
		const char *rest = path_below(refs->v[i].name, all);
		size_t skip = rest && strcspn(rest, "/") == WAS_OID ? WAS_OID + 1 : 0;

		if (rest && (!strcmp(rest, branch) || !strcmp(rest + skip, branch)) &&
		    is_ancestor(round, old->value, refs->v[i].value))
			return refs->v[i].name;
	}
	return NULL;
}

/* Nothing is kept of a branch that never was rewritten: then no git has to look. */
static const char *rewritten(struct git_round *round, const struct git_item *old)
{
	const char *now = git_find(&round->host.refs, old->name);
	char *first = arena_printf(&round->arena, "refs/wrapix/%s/was/%s", round->store->id,
				   old->name + strlen("refs/"));

	return !now || git_same(now, old->value) || !git_find(&round->host.refs, first) ||
			       is_ancestor(round, old->value, now)
		       ? NULL
		       : find_was(round, old);
}

/* Branches that no longer hold what they held when the session began. */
int git_tell_rewritten(struct git_round *round, struct err *err)
{
	struct git_state start;
	int r = git_base_load(round->store, "start", &round->arena, &start, err);

	for (size_t i = 0; r == 0 && i < start.refs.n; i++) {
		const char *was = rewritten(round, &start.refs.v[i]);

		if (was)
			git_keep(round->report, "rewritten", start.refs.v[i].name,
				 arena_printf(&round->report->arena, "what it was is kept as %s",
					      was));
	}
	return r;
}

/* Where a branch does not go forward the old end stays in reach; from before that on, should we be killed in between. */
static void keep_rewritten(struct git_round *round)
{
	struct strv later = round->refs_out;

	round->refs_out = (struct strv){ 0 };
	for (size_t i = 0; i + 2 < round->rewrites.len; i += 3) {
		const char *name = round->rewrites.v[i], *old = round->rewrites.v[i + 1],
			   *new = round->rewrites.v[i + 2];

		if (!is_ancestor(round, old, new))
			keep_was(round, name, old);
	}
	for (size_t i = 0; i < later.len; i++)
		strv_add(&round->arena, &round->refs_out, later.v[i]);
}

int git_write_refs(struct git_round *round, bool inwards, char *const *lines, size_t n)
{
	const char *const args[] = { "update-ref", "--stdin", "-m",
				     git_message(&round->arena, round->store, "publish"), NULL };
	_cleanup_str_ struct str input = { 0 };
	struct git_run run;

	for (size_t i = 0; i < n; i++)
		str_addf(&input, "start\n%s\ncommit\n", lines[i]);
	run = git_change(round->store, inwards, args, input.s);
	run.input = input.s;
	run.input_len = input.len;
	return git_run(&run, NULL);
}

/* Was carried out: 'update NAME NEW ...'. */
static void note_moved(struct git_round *round, const char *line)
{
	const char *name = line + strlen("update "), *end = strchr(name, ' ');
	const char *ref = arena_strndup(&round->arena, name, (size_t)(end - name));

	if (str_starts(line, "update ") && git_ref_travels(round->store, ref))
		git_add_item(&round->arena, &round->moved, ref,
			     arena_strndup(&round->arena, end + 1, strcspn(end + 1, " ")));
}

/* A line that cannot be carried out at once: the name stands in the way of another, say. What is locked waits. */
static int hold_line(struct git_round *round, const char *line, struct err *err)
{
	const char *name = strchr(line, ' ') + 1;
	char *lock = git_locks_find(round->store, line, &round->arena);

	if (lock)
		return err_set(err, EAGAIN, GIT_LOCKED, lock);
	git_hold(round->report, "branch", arena_strndup(&round->arena, name, strcspn(name, " ")),
		 "the host's git did not take it");
	return 0;
}

int git_apply_refs_out(struct git_round *round, struct err *err)
{
	int status = 0, r = 0;

	keep_rewritten(round);
	if (round->refs_out.len && !round->careful)
		status = git_write_refs(round, false, round->refs_out.v, round->refs_out.len);
	for (size_t i = 0; status >= 0 && i < round->refs_out.len; i++) {
		if (round->careful)
			status = git_write_refs(round, false, &round->refs_out.v[i], 1);
		if (status == 0)
			note_moved(round, round->refs_out.v[i]);
		else if (round->careful && status > 0 && r == 0)
			r = hold_line(round, round->refs_out.v[i], err);
	}
	if (r < 0)
		return r;
	if (status < 0)
		return err_set(err, status == -EPIPE ? EAGAIN : -status,
			       "the git that changes '%s' was killed or did not end",
			       round->store->common);
	if (status != 0 && !round->careful)
		return err_set(err, EAGAIN, "a reference of the host's changed meanwhile");
	if (round->refs_out.len)
		git_step(round->store, "refs");
	round->report->published += round->refs_out.len;
	round->changed |= round->refs_out.len > 0;
	return 0;
}

/* The session may have moved on: then the next round sees it. */
void git_apply_refs_in(struct git_round *round)
{
	for (size_t i = 0; i < round->refs_in.len; i++)
		if (git_write_refs(round, true, &round->refs_in.v[i], 1) == 0)
			note_moved(round, round->refs_in.v[i]);
	if (round->refs_in.len)
		git_step(round->store, "refs-in");
	round->changed |= round->refs_in.len > 0;
}
