/* SPDX-License-Identifier: MIT */
/*
 * What is taken over is what was looked at. The gate runs programs that the agent may have written, in the
 * session itself: they could make other files of those that were looked at, put more beside them, or have a
 * removal taken for a part of a rename. So what was looked at is kept where no sandbox sees it, is put back
 * when the gate has ended, and nothing else is chosen.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/path.h"
#include "cow/changes.h"
#include "cow/copy.h"
#include "os/fs.h"
#include "os/linux/files.h"
#include "ralph/land.h"

#define KEPT "looked" /* in the session's directory, and gone with it */

/* The directory of a path in the session's layer, without a link on the way; -errno. */
static int open_above(const struct cow *cow, const char *path)
{
	struct arena arena = { 0 };
	const char *above = strchr(path, '/') ? path_parent(&arena, path) : ".";
	int fd = os_openat2(cow->upper, above, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0,
			    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);

	arena_release(&arena);
	return fd;
}

static bool has_content(const struct node *node)
{
	return S_ISREG(node->mode) || S_ISLNK(node->mode);
}

static int keep_one(const struct cow *cow, int kept, const char *path, size_t i, struct node *ret,
		    struct err *err)
{
	_cleanup_close_ int above = open_above(cow, path);
	char name[32];
	int r = node_at(above, path_name(path), ret);

	snprintf(name, sizeof(name), "%zu", i);
	if (r < 0)
		return err_errno(err, -r, "looking at '%s'", path);
	return has_content(ret) ? copy_tree(above, path_name(path), kept, name, err) : 0;
}

int land_keep(struct work *work, const struct attempt *attempt, struct harvest *harvest,
	      struct err *err)
{
	_cleanup_cow_ struct cow cow = COW_NONE;
	_cleanup_close_ int kept = -1;
	int r = harvest->n ? work_open_session(work, attempt->session, &cow, err) : 0;

	if (r <= 0)
		return r;
	os_remove_tree(cow.dir, KEPT);
	if (mkdirat(cow.dir, KEPT, 0700) < 0 ||
	    (kept = openat(cow.dir, KEPT, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		return err_errno(err, errno, "keeping what the step changed");
	harvest->nodes = arena_alloc(&harvest->arena, harvest->n * sizeof(*harvest->nodes));
	r = 0;
	for (size_t i = 0; r == 0 && i < harvest->n; i++)
		r = keep_one(&cow, kept, harvest->paths[i], i, &harvest->nodes[i], err);
	return r;
}

/* The time of the last change is nobody's to set. */
static bool is_untouched(const struct node *was, const struct node *is)
{
	if (S_ISDIR(was->mode))
		return S_ISDIR(is->mode);
	return node_is_same(was, is) && was->ctime == is->ctime;
}

/* As it was when it was looked at. A directory that is gone is not made again: others were in it. */
static int restore(const struct cow *cow, int kept, const char *path, size_t i,
		   const struct node *was)
{
	_cleanup_close_ int above = open_above(cow, path);
	const char *name = path_name(path);
	struct node is;
	char from[32];
	int r = node_at(above, name, &is);

	if (r < 0 || is_untouched(was, &is))
		return r;
	if (above < 0)
		return node_exists(was) ? above : 0;
	if (S_ISDIR(was->mode))
		return -ENOTDIR;
	r = os_remove_tree(above, name);
	snprintf(from, sizeof(from), "%zu", i);
	if (r == 0 && has_content(was) && renameat(kept, from, above, name) < 0)
		r = -errno;
	/* An overlay's mark for what is removed. */
	if (r == 0 && S_ISCHR(was->mode) && mknodat(above, name, S_IFCHR, 0) < 0)
		r = -errno;
	return r;
}

int land_restore(struct work *work, const struct attempt *attempt, const struct harvest *harvest,
		 enum verdict *ret_verdict, struct str *reason, struct err *err)
{
	_cleanup_cow_ struct cow cow = COW_NONE;
	_cleanup_close_ int kept = -1;
	int r = harvest->nodes ? work_open_session(work, attempt->session, &cow, err) : 0;

	*ret_verdict = VERDICT_COMPLETE;
	if (r <= 0)
		return r;
	kept = openat(cow.dir, KEPT, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (kept < 0)
		return err_errno(err, errno, "finding what the step changed");
	for (size_t i = 0; i < harvest->n; i++) {
		_cleanup_str_ struct str shown = { 0 };

		r = restore(&cow, kept, harvest->paths[i], i, &harvest->nodes[i]);
		if (r == 0)
			continue;
		*ret_verdict = VERDICT_GATE;
		str_addf(reason, "the gate changed %s, and it cannot be put back: %s",
			 str_quote(&shown, harvest->paths[i]), strerror(-r));
		return 0;
	}
	os_remove_tree(cow.dir, KEPT);
	return 0;
}

/* --- choosing --- */

static bool has(char *const *sorted, size_t n, const char *path)
{
	return bsearch(&path, sorted, n, sizeof(*sorted), strv_order) != NULL;
}

/* With a directory that is removed goes all that is in it. */
static bool goes_with_dir(const struct changes *changes, char *const *sorted, size_t n,
			  const char *path)
{
	struct arena arena = { 0 };
	bool goes = false;

	while (!goes && strchr(path, '/')) {
		const struct change *above;

		path = path_parent(&arena, path);
		above = changes_at(changes, path);
		goes = above && !node_exists(&above->new) && has(sorted, n, path);
	}
	arena_release(&arena);
	return goes;
}

static void make_deleted(struct change *change)
{
	change->status = CHANGE_DELETED;
	change->path = change->from;
	change->old = change->from_node;
	change->from = NULL;
	change->new = (struct node){ 0 };
	change->sensitive = NULL;
	change->content = true;
}

static void make_added(struct change *change)
{
	change->status = CHANGE_ADDED;
	change->from = NULL;
	change->old = (struct node){ 0 };
	change->content = true;
}

static bool is_kept(const struct changes *changes, char *const *sorted, size_t n,
		    const struct change *change)
{
	if (has(sorted, n, change->path))
		return true;
	/* Directories come with what is in them. */
	return S_ISDIR(change->new.mode) ||
	       (!node_exists(&change->new) && goes_with_dir(changes, sorted, n, change->path));
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct change *)a)->path, ((const struct change *)b)->path);
}

/* Of a rename one half alone: the other was looked at by nobody, or stays behind. */
static void part_renames(struct changes *changes, char *const *sorted, size_t n)
{
	for (size_t i = 0; i < changes->n; i++) {
		struct change *change = &changes->v[i];

		if (!change->from)
			continue;
		if (!has(sorted, n, change->path) && has(sorted, n, change->from))
			make_deleted(change);
		else if (!has(sorted, n, change->from))
			make_added(change);
	}
	if (changes->n)
		qsort(changes->v, changes->n, sizeof(*changes->v), by_path);
}

void land_choose(struct changes *changes, const struct harvest *harvest)
{
	struct arena arena = { 0 };
	char **sorted = arena_alloc(&arena, (harvest->n + 1) * sizeof(*sorted));
	bool *kept = arena_alloc(&arena, changes->n + 1);
	size_t n = 0;

	for (size_t i = 0; i < harvest->n; i++)
		sorted[i] = harvest->paths[i];
	if (harvest->n)
		qsort(sorted, harvest->n, sizeof(*sorted), strv_order);
	part_renames(changes, sorted, harvest->n);
	for (size_t i = 0; i < changes->n; i++)
		kept[i] = is_kept(changes, sorted, harvest->n, &changes->v[i]);
	for (size_t i = 0; i < changes->n; i++)
		if (kept[i])
			changes->v[n++] = changes->v[i];
	changes->n = n;
	arena_release(&arena);
}
