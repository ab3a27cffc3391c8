/* SPDX-License-Identifier: MIT */
/* A round of publishing: read, compare, check, write, and note what both sides now agree on. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "git/priv.h"

enum { ATTEMPTS = 4 };

char *git_message(struct arena *arena, const struct git_store *store, const char *what)
{
	return arena_printf(arena, "wrapix %s: %s", store->id, what);
}

void git_report_release(struct git_report *report)
{
	arena_release(&report->arena);
	*report = (struct git_report){ 0 };
}

static int read_states(struct git_round *round, struct err *err)
{
	int r = git_read_private(round->store, &round->arena, &round->session, err);

	return r < 0 ? r : git_read_host(round->store, &round->arena, &round->host, err);
}

/* --- the round --- */

static void want_stash(struct git_round *round)
{
	const struct git_items *session = &round->session.stash;

	for (size_t i = 0; i < session->n; i++)
		if (!git_find(&round->base.stash, session->v[i].name))
			git_want(round, session->v[i].name);
}

/*
 * On each side the index goes first: a commit that somebody makes in between then holds what came, and
 * the reference, which is compared and swapped, shows that both moved. The other way round it would
 * take back what came.
 */
static int apply(struct git_round *round, struct err *err)
{
	bool tree =
		round->store->tree; /* all but HEAD, the index and operations is the repository's */
	int r = tree ? 0 : git_apply_lfs(round, err);

	if (r == 0)
		r = git_apply_index_out(round, err);
	if (r == 0)
		r = git_apply_refs_out(round, err);
	if (r == 0)
		r = git_apply_head_out(round, err);
	if (r == 0)
		r = git_apply_ops(round, err);
	if (r == 0)
		git_end_lists(round);
	if (r == 0 && !tree)
		r = git_apply_stash(round, err);
	if (r == 0 && !tree)
		r = git_apply_config(round, err);
	if (r == 0 && git_apply_index_in(round)) {
		git_apply_refs_in(round);
		git_apply_head_in(round);
		git_apply_ops_in(round);
		git_take_lists(round);
	}
	return r;
}

static bool has_work(const struct git_round *round)
{
	return round->refs_out.len || round->refs_in.len || round->index_out.len ||
	       round->index_in.len || !git_same(round->session.head, round->host.head) ||
	       round->session.ops.n || round->host.ops.n;
}

static int go(struct git_round *round, struct err *err)
{
	struct git_state session, host;
	int r = read_states(round, err);

	if (r == 0)
		r = git_agree_load(round, err);
	if (r == 0)
		r = git_plan_refs(round, err);
	if (r == 0)
		r = git_plan_index(round, err);
	if (r < 0)
		return r;
	if (!round->store->tree)
		want_stash(round);
	git_want_ops(round);
	session = round->session;
	host = round->host;
	r = git_import(round, err);
	if (r == 0 && has_work(round))
		r = git_agree_pending(round, &session, err);
	if (r == 0)
		r = apply(round, err);
	if (r < 0)
		return r;
	if (!round->store->tree)
		git_hold_hooks(round);
	git_hold_lists(round);
	git_hold_sparse(round);
	if (round->changed)
		r = read_states(round, err);
	if (r == 0 && round->changed)
		r = git_read_indexes(round, err);
	if (r == 0 && round->last && !round->store->tree)
		r = git_tell_rewritten(round, err);
	return r < 0 ? r : git_agree_note(round, &session, &host, err);
}

static int one_round(struct git_store *store, bool last, bool careful, struct git_report *report,
		     struct err *err)
{
	struct git_round round = {
		.store = store,
		.report = report,
		.last = last,
		.careful = careful,
	};
	int r = store->view ? git_publish_beside(&round, err) : go(&round, err);

	str_release(&round.index_out);
	str_release(&round.index_in);
	arena_release(&round.arena);
	return r;
}

/* --- repositories at rest, and all of a session --- */

/* See git_disarm(). */
static void arm(const struct git_store *store)
{
	char from[PATH_MAX], to[PATH_MAX];

	snprintf(from, sizeof(from), "%s/HEAD.held", store->private);
	snprintf(to, sizeof(to), "%s/HEAD", store->private);
	if (access(to, F_OK) < 0)
		rename(from, to);
}

static void disarm(const struct git_store *store)
{
	char from[PATH_MAX], to[PATH_MAX];

	snprintf(from, sizeof(from), "%s/HEAD", store->private);
	snprintf(to, sizeof(to), "%s/HEAD.held", store->private);
	rename(from, to);
}

void git_arm(const struct git_store *store)
{
	arm(store);
	for (size_t i = 0; i < store->n_parts; i++)
		arm(&store->parts[i]);
}

void git_disarm(const struct git_store *store)
{
	disarm(store);
	for (size_t i = 0; i < store->n_parts; i++)
		disarm(&store->parts[i]);
}

/* What one repository has to say is added to the whole once it is certain. */
static void add_report(struct git_report *into, const struct git_report *from)
{
	for (size_t i = 0; i < from->n_held; i++)
		git_hold(into, from->held[i].kind, from->held[i].name, from->held[i].why);
	for (size_t i = 0; i < from->n_kept; i++)
		git_keep(into, from->kept[i].kind, from->kept[i].name, from->kept[i].why);
	into->published += from->published;
	into->n_stashed += from->n_stashed;
	if (from->stashed && !into->stashed)
		into->stashed = arena_strdup(&into->arena, from->stashed);
}

/* The host has another repository there, or none: it gets nothing of this one, which stays as it is. */
static void hold_all(const struct git_store *store, struct git_report *report)
{
	const char *main = store->number ? "../done" : "done";
	struct git_held *held;
	struct err ignored;
	size_t n = 0;

	if (!store->number && git_held_read(store, &report->arena, &held, &n, &ignored) == 0)
		for (size_t i = 0; i < n; i++)
			if (strcmp(held[i].kind, "repository") != 0)
				git_hold(report, held[i].kind, held[i].name, held[i].why);
	if (faccessat(store->dir, main, F_OK, 0) < 0)
		git_hold(
			report, "repository", store->real,
			arena_printf(&report->arena,
				     "the one that commands worked in was removed before all of it "
				     "was taken over; it is in '%s'",
				     store->private));
}

static int say_another(const struct git_store *store, struct err *err)
{
	return err_set(err, ESTALE, "'%s' is not the repository that the session began with",
		       store->real);
}

static int publish_one(struct git_store *store, bool last, struct git_report *ret, struct err *err)
{
	int r;

	ret->where = store->where ? store->where : store->name ? store->name : "";
	if (store->tree && !git_tree_is_there(store))
		return 0;
	if (!git_is_same(store) && !git_is_strict(store))
		return say_another(store, err);
	if (!git_is_same(store)) {
		hold_all(store, ret);
		return 0;
	}
	r = git_begin_turn(store, err);
	if (r < 0)
		return r;
	arm(store);
	for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
		struct git_report report = { .where = ret->where };

		r = one_round(store, last && !(store->lasting && git_has_list(store->private)),
			      attempt > 0, &report, err);
		if (r == 0)
			add_report(ret, &report);
		git_report_release(&report);
		if (r != -EAGAIN || git_locks_mend(store, err) < 0)
			break;
	}
	git_end_turn(store);
	/* It came while this was published: whichever step met it, this is what there is to say. */
	return r == -ESTALE && !git_is_same(store) ? say_another(store, err) : r;
}

/* The first that fails is told of, and the others are published all the same. */
static int publish_parts(struct git_store *store, bool trees, bool last, struct git_report *ret,
			 struct err *err)
{
	struct err failed;
	int r = 0;

	for (size_t i = store->n_parts; i-- > 0;)
		if (store->parts[i].tree == trees &&
		    publish_one(&store->parts[i], last, ret, &failed) < 0 && r == 0) {
			*err = failed;
			err_wrap(err, "the %s '%s'", trees ? "work tree" : "submodule",
				 store->parts[i].name);
			r = -err->code;
		}
	return r;
}

/* Those that are new, and then what was staged in them. */
static int adopt_trees(struct git_store *store, struct git_report *ret, struct err *err)
{
	int r = git_begin_turn(store, err);
	size_t n;

	if (r < 0)
		return r;
	n = git_adopt_worktrees(store, ret);
	git_end_turn(store);
	return n && store->lasting ? publish_parts(store, true, true, ret, err) : 0;
}

/* Submodules first: what the repository around them says of them is then there. Work trees last: a branch that is new is
 * there before one of them stands on it. */
int git_publish(struct git_store *store, bool last, struct git_report *ret, struct err *err)
{
	struct err failed;
	int r, trees;

	*ret = (struct git_report){ 0 };
	if (last && !store->view && git_is_same(store))
		git_adopt_modules(store, ret);
	r = publish_parts(store, false, last, ret, err);
	if (publish_one(store, last, ret, &failed) < 0) {
		*err = failed;
		r = -err->code;
	}
	trees = publish_parts(store, true, last, ret, &failed);
	if (trees < 0 && r == 0)
		*err = failed;
	r = r < 0 ? r : trees;
	if (r == 0 && last && !store->view && git_is_same(store))
		r = adopt_trees(store, ret, err);
	return r < 0 ? r : git_held_write(store, ret, err);
}
