/* SPDX-License-Identifier: MIT */
/*
 * A private git directory that lasts, after a command that broke it, by chance ('rm -rf .git') or on purpose: what git
 * cannot work without, or would wait for (a FIFO), is made anew from the host's. Objects and references that are
 * whole stay. Nobody works in it meanwhile.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "cow/copy.h"
#include "git/lasting.h"
#include "git/priv.h"
#include "os/dir.h"
#include "os/fs.h"

enum { DEPTH_MAX = 16, LINE_MAX_LEN = 4096, TEXT_MAX_LEN = 64 << 20 };

static bool is_file(int at, const char *name, off_t max)
{
	struct stat st;

	return fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	       st.st_size <= max;
}

/* What a git that was killed left: the next ones would not go on. */
static bool is_lock(const char *name)
{
	size_t n = strlen(name);

	return n > 5 && !strcmp(name + n - 5, ".lock");
}

/* Only files and directories stay, and of files those that are no larger than that. */
static void tidy(int at, const char *name, off_t max, int depth)
{
	_cleanup_dir_ DIR *list = os_dir_open(at, name);
	struct dirent *entry;

	while ((entry = os_dir_next(list)) != NULL) {
		const char *inner = entry->d_name;

		if (entry->d_type == DT_DIR && depth)
			tidy(dirfd(list), inner, max, depth - 1);
		else if (entry->d_type != DT_DIR &&
			 (is_lock(inner) || !is_file(dirfd(list), inner, max)))
			unlinkat(dirfd(list), inner, 0);
	}
}

static bool is_begun(const char *name)
{
	return str_starts(name, "tmp_obj_") || str_starts(name, "tmp_pack_") ||
	       str_starts(name, "tmp_idx_") || str_starts(name, "tmp_rev_");
}

/* Objects that a git was about to name when it was killed. */
static void sweep_objects(int at, const char *name, int depth)
{
	_cleanup_dir_ DIR *list = os_dir_open(at, name);
	struct dirent *entry;

	while ((entry = os_dir_next(list)) != NULL) {
		if (entry->d_type == DT_DIR && depth && entry->d_name[0] != '.')
			sweep_objects(dirfd(list), entry->d_name, depth - 1);
		else if (entry->d_type == DT_REG && is_begun(entry->d_name))
			unlinkat(dirfd(list), entry->d_name, 0);
	}
}

static void sweep_one(const struct git_store *store)
{
	_cleanup_close_ int at = open(store->private,
				      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	sweep_objects(at, "objects", 1);
}

void git_mend_objects(struct git_store *store)
{
	sweep_one(store);
	for (size_t i = 0; i < store->n_parts; i++)
		sweep_one(&store->parts[i]);
	store->broken = false;
}

static int mend_dirs(int at, struct err *err)
{
	static const char *const dirs[] = { "objects",    "objects/info", "objects/pack", "refs",
					    "refs/heads", "refs/tags",    "info" };

	for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
		struct stat st;

		if (fstatat(at, dirs[i], &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
			continue;
		if (os_remove_tree(at, dirs[i]) < 0 || mkdirat(at, dirs[i], 0755) < 0)
			return err_errno(err, errno, "making '%s'", dirs[i]);
	}
	tidy(at, "refs", LINE_MAX_LEN, DEPTH_MAX);
	tidy(at, "logs", TEXT_MAX_LEN, DEPTH_MAX);
	tidy(at, "info", TEXT_MAX_LEN, DEPTH_MAX);
	tidy(at, "objects", INT64_MAX, 0);
	tidy(at, "objects/info", TEXT_MAX_LEN, DEPTH_MAX);
	tidy(at, "objects/pack", INT64_MAX, DEPTH_MAX);
	return 0;
}

/* References that are gone with all the rest were not deleted one by one. */
static int mend_refs(struct git_store *store, int at, struct err *err)
{
	bool headless = !is_file(at, "HEAD", LINE_MAX_LEN);
	struct git_state host;
	int r;

	if (!headless &&
	    (!os_exists_at(at, "packed-refs") || is_file(at, "packed-refs", TEXT_MAX_LEN)))
		return 0;
	r = git_read_host(store, &store->arena, &host, err);
	if (r == 0 && host.head && headless) {
		os_remove_tree(at, "HEAD");
		r = git_write_head(&host, at, err);
	}
	if (r == 0 && !is_file(at, "packed-refs", TEXT_MAX_LEN)) {
		os_remove_tree(at, "packed-refs");
		r = git_write_packed_refs(&host, at, err);
	}
	return r;
}

static int mend_index(const struct git_store *store, int at, bool headless, struct err *err)
{
	_cleanup_close_ int host = git_open_host(store, store->real);

	if (os_exists_at(at, "index") ? is_file(at, "index", GIT_INDEX_MAX) : !headless)
		return 0;
	os_remove_tree(at, "index");
	return is_file(host, "index", GIT_INDEX_MAX) ? copy_tree(host, "index", at, "index", err)
						     : 0;
}

/* Of what stands for an operation that waits, all but directories' names begin with a capital. */
static void mend_operations(int at)
{
	for (size_t i = 0; git_own_names[i]; i++) {
		const char *name = git_own_names[i];

		if (isupper((unsigned char)*name) && os_exists_at(at, name) &&
		    !is_file(at, name, TEXT_MAX_LEN))
			os_remove_tree(at, name);
	}
}

bool git_is_whole(const struct git_store *store)
{
	_cleanup_close_ int at = open(store->private,
				      O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (store->tree)
		return (is_file(at, "HEAD", LINE_MAX_LEN) &&
			is_file(at, "commondir", LINE_MAX_LEN)) ||
		       !git_tree_is_there(store);
	if (!is_file(at, "HEAD", LINE_MAX_LEN) || !os_exists_at(at, "refs/.") ||
	    !is_file(at, "objects/info/alternates", LINE_MAX_LEN))
		return false;
	for (size_t i = 0; i < store->n_parts; i++)
		if (!git_is_whole(&store->parts[i]))
			return false;
	return true;
}

/* One that was removed with its files is not made anew. */
static int mend_tree(struct git_store *part, int at, struct err *err)
{
	bool headless = !is_file(at, "HEAD", LINE_MAX_LEN);
	struct git_state host;
	int r = 0;

	if (!git_tree_is_there(part))
		return 0;
	if (at < 0)
		return git_fill_tree(part, err);
	tidy(at, ".", GIT_INDEX_MAX, 0);
	tidy(at, "logs", TEXT_MAX_LEN, DEPTH_MAX);
	tidy(at, "refs", LINE_MAX_LEN, DEPTH_MAX);
	if (headless && (r = git_read_host(part, &part->arena, &host, err)) == 0 && host.head) {
		os_remove_tree(at, "HEAD");
		r = git_write_head(&host, at, err);
	}
	if (r == 0)
		r = git_write_tree_files(part, at, err);
	if (r == 0)
		r = mend_index(part, at, headless, err);
	mend_operations(at);
	return r;
}

int git_mend(struct git_store *store, struct err *err)
{
	_cleanup_close_ int at = open(store->private,
				      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	bool headless;
	int r;

	os_sweep_unfinished(store->dir);
	if (!git_is_same(store))
		return 0; /* there is nothing to mend it from */
	if (store->tree)
		return mend_tree(store, at, err);
	if (at < 0)
		return err_errno(err, errno, "opening '%s'", store->private);
	headless = !is_file(at, "HEAD", LINE_MAX_LEN);
	r = mend_dirs(at, err);
	if (r == 0 && !is_file(at, "objects/info/alternates", LINE_MAX_LEN)) {
		os_remove_tree(at, "objects/info/alternates");
		r = git_write_alternates(store, at, err);
	}
	if (r == 0)
		r = mend_refs(store, at, err);
	if (r == 0)
		r = mend_index(store, at, headless, err);
	if (r == 0)
		mend_operations(at);
	if (r == 0)
		tidy(at, ".", GIT_INDEX_MAX, 0);
	for (size_t i = 0; r == 0 && i < store->n_parts; i++)
		r = git_mend(&store->parts[i], err);
	return r;
}

void git_lasting_mend(struct git_store *store)
{
	struct err ignored; /* what cannot be mended cannot be published either, and that is told */

	if (!store->lasting)
		return;
	git_arm(store);
	(void)git_mend(store, &ignored);
	git_mend_objects(store);
}
