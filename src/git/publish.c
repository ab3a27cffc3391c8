/* SPDX-License-Identifier: MIT */
/* A round of publishing: read, compare, check, write, and note what both sides now agree on. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/path.h"
#include "git/priv.h"
#include "os/fs.h"

enum { ATTEMPTS = 4 };
#define PENDING "pending"

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

static int read_indexes(struct git_round *round, struct err *err)
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

/*
 * --- the new base ---
 *
 * Both sides go on while we work: what the host has now may be what the session had when the round
 * began. Wherever one side now has what the other had or has, they agreed on that.
 */

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

static void merge_items(struct git_round *round, struct git_items *base,
			const struct git_items *session, const struct git_items *host)
{
	struct merge merge = { .round = round, .into.sorted = true };
	struct err ignored;

	git_each(base, session, host, merge_one, &merge, &ignored);
	*base = merge.into;
}

/* The base becomes, wherever the two agree, what they agree on. */
static void agree(struct git_round *round, const struct git_state *session,
		  const struct git_state *host)
{
	struct git_state *base = &round->base;

	merge_items(round, &base->refs, &session->refs, &host->refs);
	if (!round->index_same)
		merge_items(round, &base->index, &session->index, &host->index);
	if (git_same(session->head, host->head))
		base->head = host->head;
	merge_items(round, &base->ops, &session->ops, &host->ops);
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
	if (r == 0)
		unlinkat(round->store->dir, PENDING, 0);
	return r;
}

static int note_base(struct git_round *round, const struct git_state *session,
		     const struct git_state *host, struct err *err)
{
	struct git_items stash = { 0 };

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
static int load_base(struct git_round *round, struct err *err)
{
	struct git_state pending;
	struct err none;
	int r = git_base_load(round->store, "base", &round->arena, &round->base, err);

	if (r == 0 && round->store->tree)
		r = git_tree_load_refs(round, err);
	if (r < 0)
		return r;
	round->index_same = *round->base.mark && !strcmp(round->base.mark, join_marks(round));
	r = read_indexes(round, err);
	if (r == 0 && !round->index_same)
		r = git_base_load_index(round->store, &round->arena, &round->base.index, err);
	if (r < 0 || git_base_load(round->store, PENDING, &round->arena, &pending, &none) < 0)
		return r;
	take_pending(round, &pending);
	return save_base(round, err);
}

/* What is about to be written to the host. With a mark its index is the base's. */
static int note_pending(struct git_round *round, const struct git_state *session, struct err *err)
{
	struct git_state pending = *session;

	pending.made = merged_made(round, &session->refs);
	pending.mark = round->index_same ? "same" : "";
	return git_base_save(round->store, PENDING, &pending, err);
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
		r = load_base(round, err);
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
		r = note_pending(round, &session, err);
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
		r = read_indexes(round, err);
	if (r == 0 && round->last && !round->store->tree)
		r = git_hold_rewritten(round, err);
	return r < 0 ? r : note_base(round, &session, &host, err);
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
	into->published += from->published;
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
