/* SPDX-License-Identifier: MIT */
/*
 * Lists of commands that are not finished: a rebase, a sequence, a bisection. What the user began goes into the session, and
 * what the session then ends is ended: the host's list is given up as 'git rebase --quit' does it, and HEAD stands
 * where the session brought it. A list that a session began or went on with never comes out, because git would run what is in
 * it: it is reported, and the session can be gone on with.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/sha256.h"
#include "cow/copy.h"
#include "git/priv.h"
#include "os/dir.h"
#include "os/fs.h"
#include "session/record.h"

enum { FILES_MAX = 64, FILE_MAX = 1 << 20 };
#define COPY GIT_COPY "list"

/* In the order of their names. Without 'quit' it goes neither way, nor where 'with' is not in it: who does 'git am' stands on
 * a branch all the time, so that nobody could tell its end; 'without' is what it is called then. */
static const struct {
	const char *file, *what, *quit, *with, *without;
} lists[] = {
	{ "BISECT_LOG", "bisection", NULL, NULL, NULL },
	{ "rebase-apply", "rebase", "rebase", "rebasing", "am" },
	{ "rebase-merge", "rebase", "rebase", NULL, NULL },
	{ "sequencer", "sequence", "cherry-pick", NULL, NULL },
};

/* What git keeps beside them, for the step that it stands at. */
static const char *const beside[] = { "REBASE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD",
				      "MERGE_MSG",   "AUTO_MERGE",       "MERGE_RR" };

static bool has_list(const char *gitdir, size_t i)
{
	struct arena a = { 0 };
	struct stat st;
	bool has = lstat(path_join(&a, gitdir, lists[i].file), &st) == 0;

	arena_release(&a);
	return has;
}

bool git_has_list(const char *gitdir)
{
	bool has = false;

	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		has |= has_list(gitdir, i);
	return has;
}

const char *git_list_named(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		if (lists[i].quit && strlen(lists[i].file) == len &&
		    !strncmp(lists[i].file, name, len))
			return lists[i].file;
	return NULL;
}

/* Which steps are done and which are left, as one number; NULL: none, or none that can be told. */
static const char *sum(struct arena *arena, int dir, size_t i)
{
	_cleanup_dir_ DIR *list = lists[i].quit ? os_dir_open(dir, lists[i].file) : NULL;
	_cleanup_str_ struct str all = { 0 };
	struct git_items files = { 0 };
	const struct dirent *entry;
	char hex[SHA256_HEX];

	while ((entry = os_dir_next(list)) != NULL) {
		_cleanup_free_ char *text = NULL;
		size_t len;

		if (files.n == FILES_MAX ||
		    git_read_file(dirfd(list), entry->d_name, FILE_MAX, &text, &len) < 0)
			return NULL;
		sha256_hex(text, len, hex);
		git_add_item(arena, &files, arena_strdup(arena, entry->d_name),
			     arena_strdup(arena, hex));
	}
	if (!list || git_sort(&files) < 0 || (lists[i].with && !git_find(&files, lists[i].with)))
		return NULL;
	for (size_t k = 0; k < files.n; k++)
		str_addf(&all, "%s %s\n", files.v[k].value, files.v[k].name);
	sha256_hex(all.s ? all.s : "", all.len, hex);
	return arena_strdup(arena, hex);
}

void git_lists_read(struct arena *arena, int dir, struct git_items *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		const char *value = sum(arena, dir, i);

		if (value)
			git_add_item(arena, ret, lists[i].file, value);
	}
}

/* Who ends one, in whatever way, stands on a branch then, and picks nothing. A list that is only gone says nothing. */
static bool has_ended(const struct git_round *round)
{
	const struct git_state *session = &round->session;

	return !git_has_list(round->store->private) && session->head &&
	       str_starts(session->head, "ref: ") && !git_find(&session->ops, "CHERRY_PICK_HEAD") &&
	       !git_find(&session->ops, "REVERT_HEAD");
}

bool git_lists_ended(const struct git_round *round)
{
	bool ended = has_ended(round);

	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		const char *base = git_find(&round->base.ops, lists[i].file);

		if (has_list(round->store->real, i))
			ended &= base && git_same(base, git_find(&round->host.ops, lists[i].file));
	}
	return ended;
}

/* Changes that git had put aside for it go to the stash: whether the session brought all of them back nobody can tell. */
static void quit(struct git_round *round, size_t i)
{
	struct git_run run = git_on_host_write(round->store, GIT_ARGS(lists[i].quit, "--quit"));
	struct err ignored;

	git_step(round->store, lists[i].file);
	round->changed = true;
	if (git_do(&run, NULL, &ignored) < 0)
		git_hold(round->report, "state", lists[i].what,
			 arena_printf(&round->report->arena,
				      "the session ended it; 'git %s --quit' ends it here",
				      lists[i].quit));
}

void git_end_lists(struct git_round *round)
{
	_cleanup_close_ int dir = git_open_host(round->store, round->store->real);

	if (dir < 0 || !round->together || !git_has_list(round->store->real) ||
	    !git_lists_ended(round))
		return;
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		const char *was = git_find(&round->host.ops, lists[i].file);

		if (!was)
			continue;
		if (!git_same(was, sum(&round->arena, dir, i)))
			return; /* the user goes on with it at this moment */
		quit(round, i);
	}
	for (size_t i = 0; i < ARRAY_LEN(beside); i++)
		unlinkat(dir, beside[i], 0);
}

/* All of it at once: a command may be at work. */
static void take(int from, int to, const char *file)
{
	struct err ignored;
	int r = 0;

	os_remove_tree(to, COPY);
	if (copy_tree(from, file, to, COPY, &ignored) < 0)
		return;
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(beside); i++)
		r = git_copy_file(from, beside[i], to, &ignored);
	if (r < 0 || renameat(to, COPY, to, file) < 0)
		os_remove_tree(to, COPY); /* until the next time */
}

void git_take_lists(struct git_round *round)
{
	_cleanup_close_ int from = git_open_host(round->store, round->store->real);
	_cleanup_close_ int to = record_open_dir(AT_FDCWD, round->store->private);

	if (from < 0 || to < 0 || !git_stands_still(round))
		return;
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		const char *file = lists[i].file;
		const char *session = git_find(&round->session.ops, file);
		const char *host = git_find(&round->host.ops, file);

		if (git_same(session, host) ||
		    !git_same(session, git_find(&round->base.ops, file)) ||
		    !session != !has_list(round->store->private, i) ||
		    !host != !has_list(round->store->real, i))
			continue;
		os_remove_tree(to, file);
		for (size_t k = 0; k < ARRAY_LEN(beside); k++)
			unlinkat(to, beside[k], 0);
		if (host)
			take(from, to, file);
		round->changed = true;
	}
}

/* What the user calls it. */
static const char *called(struct git_round *round, size_t i)
{
	struct stat st;

	if (!lists[i].with)
		return lists[i].what;
	return lstat(arena_printf(&round->arena, "%s/%s/%s", round->store->private, lists[i].file,
				  lists[i].with),
		     &st) == 0
		       ? lists[i].what
		       : lists[i].without;
}

void git_hold_lists(struct git_round *round)
{
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		bool ours = has_list(round->store->private, i);
		bool theirs = has_list(round->store->real, i);

		if (theirs && !ours && git_find(&round->base.ops, lists[i].file))
			git_hold(round->report, "state", lists[i].what,
				 "the session has it no more; here it goes on");
		if (!ours)
			continue;
		if (!theirs)
			git_hold(round->report, "state", called(round, i),
				 "it was left unfinished in the session, and is not carried over");
		else if (!git_same(git_find(&round->session.ops, lists[i].file),
				   git_find(&round->host.ops, lists[i].file)))
			git_hold(round->report, "state", called(round, i),
				 "it went on in the session, and is to be ended there");
	}
}
