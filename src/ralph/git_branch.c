/* SPDX-License-Identifier: MIT */
/*
 * Moving the branch: one compare-and-swap, by a git that may be killed, as we may be. What it left locked is taken away by who
 * comes next, who has the turn only when that git is gone. A lock of the user's is waited for, and then named (git/locks.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "git/locks.h"
#include "git/run.h"
#include "git/state.h"
#include "ralph/git.h"

enum { TRIES = 16, PAUSE_MS = 500 };

#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static int find_places(const struct work *work, struct arena *arena, struct git_store *store,
		       struct err *err)
{
	char *git = path_join(arena, work->site.top, ".git"), *own, *common;
	struct stat st;

	store->top = work->site.top;
	store->path = work->site.state;
	store->real = store->common = git;
	if (lstat(git, &st) == 0 && S_ISDIR(st.st_mode))
		return 0;
	if (git_ask(work, arena, ARGS("rev-parse", "--absolute-git-dir"), NULL, NULL, 0, &own) ||
	    git_ask(work, arena, ARGS("rev-parse", "--git-common-dir"), NULL, NULL, 0, &common))
		return err_set(err, ENOENT, "git does not say where its directory is");
	store->real = own;
	store->common = path_join(arena, work->site.top, common);
	return 0;
}

static void end_turn(struct git_store *store)
{
	close_ptr(&store->dir);
	close_ptr(&store->turn);
}

static int hint(struct err *err)
{
	return err_hint(err, "remove it when no git runs; 'ralph loop' then goes on");
}

/* A git before was killed; of another's locks the end is awaited. */
static int mend(const struct git_store *store, struct err *err)
{
	int r = -EAGAIN;

	for (int i = 0; r == -EAGAIN && i < TRIES; i++)
		r = git_locks_mend(store, err); /* which waits */
	return r == -EAGAIN ? hint(err) : r;
}

/* With nothing of those before. */
static int begin_turn(const struct work *work, struct arena *arena, struct git_store *store,
		      struct err *err)
{
	const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
	int r = find_places(work, arena, store, err);

	if (r < 0)
		return r;
	store->dir = open(store->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	store->turn = openat(store->dir, "turn", flags, 0600);
	if (store->turn < 0 || git_take_turn(store->turn) < 0)
		r = err_errno(err, errno, "locking '%s/turn'", store->path);
	else
		r = mend(store, err);
	if (r < 0)
		end_turn(store);
	return r;
}

int git_unlock_branch(const struct work *work, struct err *err)
{
	struct git_store store = GIT_STORE_NONE;
	struct arena arena = { 0 };
	int r = begin_turn(work, &arena, &store, err);

	if (r == 0)
		end_turn(&store);
	arena_release(&arena);
	return r;
}

/* NULL: an unborn branch. */
static char *ask_head(const struct work *work, struct arena *arena)
{
	char *head = NULL;

	return git_ask(work, arena, ARGS("rev-parse", "--verify", "--quiet", "HEAD"), NULL, NULL, 0,
		       &head)
		       ? NULL
		       : head;
}

/* The exit status, -EINTR when it was killed, another error. */
static int update(const struct work *work, struct arena *arena, const struct git_store *store,
		  const char *change, const char *to, const char *from)
{
	const char *none = arena_printf(arena, "%0*d", (int)strlen(to), 0);
	int r = git_locks_note(store, false, change);

	if (r < 0)
		return r;
	r = git_tell(work, arena,
		     ARGS("update-ref", "-m", "ralph: a step", "HEAD", to, from ? from : none),
		     store->turn);
	if (r != -EINTR)
		git_locks_forget(store, false);
	return r;
}

static int explain(const struct git_store *store, struct arena *arena, const char *change,
		   int status, struct err *err)
{
	const char *lock = git_locks_find(store, change, arena);

	if (status < 0 && status != -EINTR)
		return err_errno(err, -status, "moving the branch");
	if (!lock)
		return err_set(err, EIO, "moving the branch: git ended with status %d", status);
	err_set(err, EAGAIN, GIT_LOCKED, lock);
	return hint(err);
}

int git_move_branch(const struct work *work, struct arena *arena, const char *to, const char *from,
		    struct err *err)
{
	struct git_store store = GIT_STORE_NONE;
	char *branch = NULL, *change, *head = NULL;
	bool moved = false;
	int status = -EINTR, r = begin_turn(work, arena, &store, err);

	if (r < 0)
		return r;
	if (git_ask(work, arena, ARGS("symbolic-ref", "--quiet", "HEAD"), NULL, NULL, 0, &branch))
		branch = NULL;
	change = arena_printf(arena, "update %s %s", branch ? branch : "HEAD", to);
	for (int i = 0; r == 0 && status && !moved && i < TRIES; i++) {
		if (i)
			poll(NULL, 0, PAUSE_MS);
		status = update(work, arena, &store, change, to, from);
		if (status == -EINTR)
			r = mend(&store, err);
		if (status)
			head = ask_head(work, arena);
		if (status && git_same(head, to))
			status = 0; /* before it was killed */
		/* Somebody else has moved it: no lock, and no use in waiting. */
		moved = status && !git_same(head, from);
	}
	if (r == 0 && moved)
		r = err_set(err, ESTALE, "the branch was moved by somebody else");
	else if (r == 0 && status)
		r = explain(&store, arena, change, status, err);
	end_turn(&store);
	return r;
}
