/* SPDX-License-Identifier: MIT */
/*
 * The index: path by path, three ways. Only modes, object names and stages travel; flags, extensions
 * and times never do, so nothing can be hidden from 'git status', and nothing is refreshed, which
 * would run the user's filters. But where the session has nothing of its own in it, and neither index has flags, it gets the
 * host's as it is, as at its beginning: to a git that asks for times alone ('git sparse-checkout') an entry without any
 * is a file that was changed.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "git/priv.h"
#include "os/fs.h"
#include "session/record.h"

#define COPY GIT_COPY "index"

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
			strv_add(&round->arena, &round->blobs,
				 arena_strndup(&round->arena, p + 7, len - 9));
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
		round->index_own = true;
	} else { /* both sides changed it: each keeps its own, and what is in the file shows it */
		round->index_own = true;
	}
	return 0;
}

bool git_heads_diverged(const struct git_round *round)
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
	/* Then the index of one says nothing to the other. */
	if (git_heads_diverged(round))
		return 0;
	return git_each(&round->base.index, &round->session.index, &round->host.index, plan_path,
			round, err);
}

int git_update_index(struct git_store *store, struct arena *arena, bool inwards,
		     const char *const *args, const struct str *lines)
{
	const char *path = inwards ? store->private : store->real;
	_cleanup_close_ int dir = inwards ? open(path,
						 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
					  : git_open_host(store, path);
	struct git_run run = inwards ? git_in_private(store, args, true)
				     : git_on_host_write(store, args);
	struct stat old;
	int r;

	if (dir < 0)
		return -errno;
	git_exchange_repair(dir, "index");
	r = git_exchange_copy(dir, "index", &old);
	run.input = lines->s;
	run.input_len = lines->len;
	run.index = run.host ? COPY : path_join(arena, path, COPY);
	run.seconds = 60;
	if (r == 0)
		r = git_run(&run, NULL) == 0 ? 0 : -EIO;
	if (r == 0)
		r = git_exchange(store, dir, "index", &old);
	git_exchange_repair(dir, "index");
	return r;
}

static int update(struct git_round *round, bool inwards, const struct str *lines)
{
	static const char *const args[] = { "update-index", "-z", "--index-info", NULL };

	return git_update_index(round->store, &round->arena, inwards, args, lines);
}

/* What was read before still is what the file says, and that is all it says. */
static bool says(struct git_round *round, int dir, const char *name, const struct git_items *want,
		 char **ret, size_t *ret_len)
{
	struct git_items items;
	bool same;

	if (git_read_file(dir, name, GIT_INDEX_MAX, ret, ret_len) < 0 ||
	    git_index_read(&round->arena, *ret, *ret_len, git_is_sha256(round->store), &items) < 0)
		return false;
	same = !items.flagged && items.n == want->n;
	for (size_t i = 0; same && i < items.n; i++)
		same = !strcmp(items.v[i].name, want->v[i].name) &&
		       !strcmp(items.v[i].value, want->v[i].value);
	return same;
}

/* With its time, by which git knows which entries to doubt. */
static int write_copy(int dir, const char *text, size_t len, const struct timespec *when)
{
	const struct timespec times[] = { *when, *when };
	_cleanup_close_ int fd = openat(dir, COPY, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC);
	int r = fd < 0 ? -errno : os_write_all(fd, text, len);

	return r < 0 ? r : MIN(futimens(fd, times), 0);
}

/* The host's file in place of the session's; false: that is not so simple. */
static bool take_whole(struct git_round *round)
{
	struct git_store *store = round->store;
	_cleanup_close_ int real = git_open_host(store, store->real);
	_cleanup_close_ int dir = record_open_dir(AT_FDCWD, store->private);
	_cleanup_free_ char *host = NULL, *session = NULL;
	size_t len, n;
	struct stat st, old;
	bool done;

	if (round->index_own || real < 0 || dir < 0 ||
	    fstatat(real, "index", &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !says(round, real, "index", &round->host.index, &host, &len))
		return false;
	git_exchange_repair(dir, "index");
	done = git_exchange_copy(dir, "index", &old) == 0 &&
	       says(round, dir, COPY, &round->session.index, &session, &n) &&
	       write_copy(dir, host, len, &st.st_mtim) == 0 &&
	       git_exchange(store, dir, "index", &old) == 0;
	git_exchange_repair(dir, "index");
	return done;
}

int git_apply_index_out(struct git_round *round, struct err *err)
{
	int r = round->index_out.len ? update(round, false, &round->index_out) : 0;

	round->changed |= round->index_out.len > 0;
	if (r == -EAGAIN)
		return err_set(err, EAGAIN,
			       "the host's index is locked or changes ('%s/index.lock')",
			       round->store->real);
	return r < 0 ? err_errno(err, -r, "changing the index in '%s'", round->store->real) : 0;
}

bool git_apply_index_in(struct git_round *round)
{
	round->changed |= round->index_in.len > 0;
	return !round->index_in.len || take_whole(round) ||
	       update(round, true, &round->index_in) == 0;
}
