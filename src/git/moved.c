/* SPDX-License-Identifier: MIT */
/*
 * A repository that a command moved, with all that lies around it: it is the same directory (identity.c) under another
 * name. What commands did in it goes there, and the next one there goes on with the same private git directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

#include "base/path.h"
#include "git/lasting.h"
#include "git/priv.h"
#include "os/fs.h"
#include "session/record.h"

bool git_lasting_is_moved(const struct git_store *store)
{
	/* A linked work tree's own lies in another repository. */
	return !git_is_linked(store->real, store->common) && !git_is_same(store);
}

static void move_parts(struct git_store *store, const char *old)
{
	for (size_t i = 0; i < store->n_parts; i++) {
		struct git_store *part = &store->parts[i];
		const char *below = path_is_below(part->real, old) ? path_below(part->real, old)
								   : NULL;

		if (!below)
			continue;
		part->real = path_join(&store->arena, store->real, below);
		part->common = part->tree ? store->common : part->real;
		part->top = store->top;
		part->project = store->project;
	}
}

/* Where the host's objects stand in it is said by its whole name. */
static int renew_alternates(struct git_store *store, struct err *err)
{
	_cleanup_close_ int at = record_open_dir(AT_FDCWD, store->private);
	_cleanup_close_ int info = at < 0 ? -1
					  : os_openat2(at, "objects/info", O_RDONLY | O_DIRECTORY,
						       0, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	int r = 0;

	if (info >= 0 && os_remove_tree(info, "alternates") == 0)
		r = git_write_alternates(store, at, err);
	for (size_t i = 0; r == 0 && i < store->n_parts; i++)
		if (!store->parts[i].tree)
			r = renew_alternates(&store->parts[i], err);
	return r;
}

int git_lasting_move(struct git_store *store, const char *gitdir, struct err *err)
{
	struct arena *a = &store->arena;
	const char *old = store->real;
	char identity[GIT_IDENTITY];
	int r;

	git_identity(gitdir, identity);
	if (!store->identity || !*identity || strcmp(identity, store->identity) != 0)
		return err_set(err, ESTALE, "'%s' is another repository", gitdir);
	store->real = store->common = arena_strdup(a, gitdir);
	store->top = !strcmp(path_name(gitdir), ".git") ? path_parent(a, gitdir) : store->real;
	store->project = store->top;
	move_parts(store, old);
	r = renew_alternates(store, err);
	return r < 0 ? r : git_store_write_meta(store, err);
}

void git_lasting_settle(struct git_store *store)
{
	_cleanup_close_ int top = record_open_dir(AT_FDCWD, store->state);
	char id[GIT_LASTING_ID], from[64], to[64];

	git_lasting_id(store->real, id);
	snprintf(to, sizeof(to), "git/%s", id);
	if (top < 0 || !git_is_same(store) || !strcmp(id, store->id) ||
	    faccessat(top, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
	    flock(store->lock, LOCK_EX | LOCK_NB) < 0)
		return;
	/* Without a record it does not count, should we be killed in between. */
	for (size_t i = 0; i < 2; i++) {
		snprintf(from, sizeof(from), "%s/%s", i ? "git" : "gitdirs", store->id);
		snprintf(to, sizeof(to), "%s/%s", i ? "git" : "gitdirs", id);
		if (renameat(top, from, top, to) < 0)
			return;
	}
}
