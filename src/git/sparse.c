/* SPDX-License-Identifier: MIT */
/*
 * What of a repository the user has checked out. Commands have to know it: to them a file that is not there was deleted, and
 * 'git commit -a' would say so. Their own choice stays with them, because a file of the user's that is missing is to be seen.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "git/lasting.h"
#include "git/priv.h"
#include "session/record.h"
#include "spec/gitconfig.h"
#include "spec/gitkeys.h"

static const char *const settings[] = { "config.worktree", "info/sparse-checkout" };

/* "S PATH" for each file that is not to be checked out, "H PATH" for others. */
static int read_marks(struct git_store *store, bool private, struct arena *arena,
		      struct git_items *ret, struct err *err)
{
	static const char *const args[] = { "ls-files", "-t", "-z", NULL };
	struct git_run run = private ? git_in_private(store, args, false)
				     : git_on_host(store, args);
	_cleanup_str_ struct str out = { 0 };
	int r = git_do(&run, &out, err);

	*ret = (struct git_items){ 0 };
	for (size_t i = 0; r == 0 && i < out.len; i += strlen(out.s + i) + 1)
		if (str_starts(out.s + i, "S "))
			git_add_item(arena, ret, arena_strdup(arena, out.s + i + 2), "S");
	return r == 0 && git_sort(ret) < 0 ? err_set(err, EINVAL, "an index has a name twice") : r;
}

struct change {
	struct str set, unset;
};

static int plan(void *ctx, const char *name, _unused_ const char *base, const char *session,
		const char *host, _unused_ struct err *err)
{
	struct change *change = ctx;

	if (!session != !host)
		str_addn(host ? &change->set : &change->unset, name, strlen(name) + 1);
	return 0;
}

static int take_marks(struct git_store *store, struct arena *arena, struct err *err)
{
	static const char *const set[] = { "update-index", "-z", "--skip-worktree", "--stdin",
					   NULL };
	static const char *const unset[] = { "update-index", "-z", "--no-skip-worktree", "--stdin",
					     NULL };
	struct git_items session, host, none = { 0 };
	struct change change = { 0 };
	int r = read_marks(store, true, arena, &session, err);

	if (r == 0)
		r = read_marks(store, false, arena, &host, err);
	if (r == 0)
		r = git_each(&none, &session, &host, plan, &change, err);
	if (r == 0 && change.set.len)
		r = git_update_index(store, arena, true, set, &change.set);
	if (r == 0 && change.unset.len)
		r = git_update_index(store, arena, true, unset, &change.unset);
	str_release(&change.set);
	str_release(&change.unset);
	return r;
}

int git_take_sparse(struct git_store *store, struct err *err)
{
	_cleanup_close_ int from = git_open_host(store, store->real);
	_cleanup_close_ int to = record_open_dir(AT_FDCWD, store->private);
	struct arena a = { 0 };
	bool newer = false;
	int r = 0;

	for (size_t i = 0; from >= 0 && to >= 0 && i < ARRAY_LEN(settings); i++)
		newer |= git_is_newer(from, settings[i], to, settings[i]);
	if (newer)
		r = take_marks(store, &a, err);
	for (size_t i = 0; r == 0 && newer && i < ARRAY_LEN(settings); i++) {
		unlinkat(to, settings[i], 0);
		r = git_copy_file(from, settings[i], to, err);
	}
	arena_release(&a);
	return r;
}

static bool is_sparse(int dir)
{
	_cleanup_free_ char *text = NULL;
	struct arena a = { 0 };
	const char *value = NULL;
	bool sparse;
	size_t len;

	if (dir >= 0 && git_read_file(dir, settings[0], GITKEYS_MAX, &text, &len) == 0 &&
	    strlen(text) == len)
		value = gitconfig_get(&a, text, "core", "sparsecheckout");
	sparse = value && !strcmp(value, "true");
	arena_release(&a);
	return sparse;
}

void git_hold_sparse(struct git_round *round)
{
	_cleanup_close_ int host = git_open_host(round->store, round->store->real);
	_cleanup_close_ int private = record_open_dir(AT_FDCWD, round->store->private);

	if (is_sparse(private) && !is_sparse(host))
		git_hold(round->report, "state", "sparse checkout",
			 "it counts in the session alone; files that were taken away for it look "
			 "deleted here");
}
