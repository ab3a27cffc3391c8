/* SPDX-License-Identifier: MIT */
/*
 * A repository that a sandbox made in the project, where the host has an empty directory: the host gets
 * a new one of its own, with nothing of the sandbox's in it, and the sandbox's becomes the private
 * directory of a session, to publish from as from any other.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/path.h"
#include "git/priv.h"
#include "os/fs.h"
#include "session/record.h"

#define SHALLOW_MAX ((size_t)4 << 20)

bool git_is_repository(int dir)
{
	struct stat head, objects, refs;

	return fstatat(dir, "HEAD", &head, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(head.st_mode) &&
	       fstatat(dir, "objects", &objects, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(objects.st_mode) && fstatat(dir, "refs", &refs, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(refs.st_mode);
}

/* Where its history is cut off, as names of objects. */
static int take_shallow(int private, int real, struct err *err)
{
	_cleanup_close_ int in = openat(private, "shallow",
					O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	struct stat st;
	size_t len = 0;
	int r;

	if (in < 0)
		return errno == ENOENT ? 0 : err_errno(err, errno, "reading 'shallow'");
	if (fstat(in, &st) < 0 || !S_ISREG(st.st_mode))
		return err_set(err, EINVAL, "'shallow' is not a file");
	r = os_read_fd(in, SHALLOW_MAX, &text, &len);
	if (r < 0)
		return err_errno(err, -r, "reading 'shallow'");
	for (const char *s = text, *end; s < text + len; s = end + 1) {
		end = memchr(s, '\n', (size_t)(text + len - s));
		if (!end || !git_oid_ok(s, (size_t)(end - s)))
			return err_set(err, EINVAL, "'shallow' holds what is no object's name");
	}
	return os_write_file_atomic(real, "shallow", text, len, 0644, err);
}

/* Asked of a confined git: the configuration is the sandbox's. */
static bool is_sha256(struct git_store *store, const char *private)
{
	struct git_run run = git_in_private(store, GIT_ARGS("rev-parse", "--show-object-format"),
					    false);
	_cleanup_str_ struct str out = { 0 };

	run.gitdir = private;
	run.reads[0] = (struct git_read){ .path = private };
	run.alternates = NULL;
	run.n_reads = 1;
	return git_run(&run, &out) == 0 && out.s && str_starts(out.s, "sha256");
}

static int make_real(struct git_store *store, const char *private, struct err *err)
{
	_cleanup_close_ int from = open(private, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_close_ int real = -1;
	struct git_state host;
	int r;

	if (from < 0)
		return err_errno(err, errno, "opening what the sandbox made");
	r = git_make_repository(store, store->real, NULL, is_sha256(store, private), err);
	if (r < 0)
		return r;
	real = git_open_host(store, store->real);
	git_note_identity(&store->arena, store);
	r = real < 0 ? err_errno(err, errno, "opening '%s'", store->real)
		     : take_shallow(from, real, err);
	if (r == 0)
		r = git_read_host(store, &store->arena, &host, err);
	if (r == 0)
		r = git_base_save(store, "start", &host, err);
	return r < 0 ? r : git_base_save(store, "base", &host, err);
}

int git_adopt_apart(struct git_store *store, const struct git_about *about, const char *private,
		    struct err *err)
{
	struct arena *a = &store->arena;
	int r;

	*store = (struct git_store)GIT_STORE_NONE;
	r = git_store_name(store, about->state_home, about->id, err);
	if (r < 0)
		return r;
	store->project = arena_strdup(a, about->project);
	store->real = store->common = arena_strdup(a, about->real);
	store->top = path_parent(a, store->real);
	store->program = arena_strdup(a, about->program);
	store->inner = about->inner;
	r = git_store_make(store, err);
	if (r == 0)
		r = git_lock(store, err);
	if (r == 0)
		r = make_real(store, private, err);
	if (r == 0) /* from here on the session's work is in it */
		r = record_write_file(store->dir, RECORD_KEEP, "", 0, err);
	if (r == 0 && rename(private, store->private) < 0)
		r = err_errno(err, errno, "taking over '%s'", private);
	if (r == 0)
		r = git_store_write_meta(store, err);
	if (r < 0) {
		git_close(store);
		return err_wrap(err, "taking over the repository '%s'", about->real);
	}
	return 0;
}
