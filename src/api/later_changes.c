/* SPDX-License-Identifier: MIT */
/* What is different: between the notes and the project as it is now, and between the project and what is held of it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/later_priv.h"
#include "base/path.h"
#include "cow/aliases.h"
#include "cow/changes.h"
#include "os/dir.h"
#include "os/fs.h"

enum { DEPTH_MAX = 64 };

static const char *hash_of(const struct later_file *file, char buf[SHA256_HEX])
{
	if (!file->text)
		return file->hash;
	sha256_hex(file->text, file->len, buf);
	return buf;
}

bool later_same(const struct later_file *a, const struct later_file *b)
{
	char hashes[2][SHA256_HEX];
	const char *x, *y;

	if (a->mode != b->mode)
		return false;
	if (a->text && b->text)
		return a->len == b->len && !memcmp(a->text, b->text, a->len);
	x = hash_of(a, hashes[0]);
	y = hash_of(b, hashes[1]);
	if (*x && *y) /* else one of them was not read */
		return !strcmp(x, y);
	return a->size == b->size && a->ctime.tv_sec == b->ctime.tv_sec &&
	       a->ctime.tv_nsec == b->ctime.tv_nsec;
}

static struct later_change *add(struct later_list *list, const char *path,
				const struct later_file *was, const struct later_file *is)
{
	struct later_change *change = arena_grow(&list->arena, &list->v, &list->n, sizeof(*change));
	char buf[PATH_MAX];

	*change = (struct later_change){ .path = path, .as = path, .was = was, .is = is };
	if (aliases_obeyed(list->was.protection.aliases, path, buf) == buf)
		change->as = arena_strdup(&list->arena, buf);
	return change;
}

/* ------------------------------------------------------------------ the project */

/* What the noted paths are now, and what is in those that are directories. */
static void look_again(struct later_list *list, const char *project)
{
	_cleanup_close_ int root = os_open_plain(project);
	struct later *is = &list->is;

	for (size_t i = 0; root >= 0 && i < list->was.n; i++) {
		const struct later_file *file = &list->was.v[i];
		_cleanup_close_ int dir = -1;

		if (file->tree) {
			strv_add(&list->arena, &list->trees, file->path);
			continue;
		}
		dir = later_open_above(root, &is->arena, file->path);
		if (dir >= 0 && !later_is_noted(is, file->path))
			later_look_at(is, dir, file->path);
	}
	/* A move that could not be looked through brought something, or took something away. */
	for (size_t i = 0; i < list->was.unseen.len; i++)
		strv_add(&list->arena, &list->unseen, list->was.unseen.v[i]);
	for (size_t i = 0; i < is->unseen.len; i++)
		if (!strv_has(&list->unseen, is->unseen.v[i]))
			strv_add(&list->arena, &list->unseen, is->unseen.v[i]);
}

/* Those that there were, by path. */
static void settle(struct later *later)
{
	size_t n = 0;

	for (size_t i = 0; i < later->n; i++)
		if (later->v[i].mode && !later->v[i].tree)
			later->v[n++] = later->v[i];
	later->n = n;
	later->n_index = 0;
	if (n)
		qsort(later->v, n, sizeof(*later->v), later_by_path);
}

void later_changes(struct later_list *list, struct later *before, const char *project)
{
	size_t i = 0, k = 0;

	list->was = *before;
	before->file = 0;
	*before = (struct later){ .protection = list->was.protection };
	list->is.protection = list->was.protection;
	if (list->was.noted)
		look_again(list, project);
	else
		later_look(&list->is, project);
	list->more = list->was.more + list->is.more;
	settle(&list->was);
	settle(&list->is);
	while (i < list->was.n || k < list->is.n) {
		const struct later_file *a = i < list->was.n ? &list->was.v[i] : NULL;
		const struct later_file *b = k < list->is.n ? &list->is.v[k] : NULL;
		int order = !a ? 1 : !b ? -1 : strcmp(a->path, b->path);

		known(order <= 0 ? a : b);
		i += order <= 0;
		k += order >= 0;
		if (order != 0 || !later_same(a, b))
			add(list, order <= 0 ? a->path : b->path, order <= 0 ? a : NULL,
			    order >= 0 ? b : NULL)
				->fresh = true;
	}
}

void later_list_release(struct later_list *list)
{
	later_release(&list->was);
	later_release(&list->is);
	arena_release(&list->arena);
	*list = (struct later_list){ .v = NULL };
}

/* ------------------------------------------------------------------ what is held */

struct held {
	struct later_list *list;
	const struct timespec *since;
	size_t n;
};

static bool is_whiteout(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == 0;
}

static struct later_file *read_one(struct held *h, int dir, const char *name, const char *path,
				   const struct stat *st)
{
	struct later_file *file = arena_alloc(&h->list->arena, sizeof(*file));

	*file = (struct later_file){
		.path = path, .mode = st->st_mode, .size = st->st_size, .ctime = st->st_ctim
	};
	later_read_text(&h->list->is, dir, name, file);
	return file;
}

/* A whiteout is one file with many names, whose other time changes with each of them. */
static bool is_fresh(const struct held *h, const struct stat *st)
{
	const struct timespec *t = is_whiteout(st) ? &st->st_mtim : &st->st_ctim;

	return t->tv_sec > h->since->tv_sec ||
	       (t->tv_sec == h->since->tv_sec && t->tv_nsec >= h->since->tv_nsec);
}

static void found(struct held *h, const char *path, const struct later_file *was,
		  const struct later_file *is, bool fresh)
{
	struct later_change *change;

	if (was && is && later_same(was, is))
		return;
	if (h->n++ >= LATER_FILES_MAX) {
		h->list->more++;
		return;
	}
	change = add(h->list, path, was, is);
	change->held = true;
	change->fresh = fresh;
}

static int open_dir(int at, const char *name)
{
	return at < 0 ? -1 : openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* All of the host's that is not in the view any more; 'but': what the upper directory has of its own. */
static void gone(struct held *h, int dir, int but, const char *path, bool fresh, int depth)
{
	_cleanup_dir_ DIR *names = depth < DEPTH_MAX ? os_dir_open(dir, ".") : NULL;
	struct dirent *entry;
	struct stat st;

	while ((entry = os_dir_next(names)) != NULL) {
		char *below;

		if ((but >= 0 && fstatat(but, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0) ||
		    fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		below = path_join(&h->list->arena, path, entry->d_name);
		if (S_ISDIR(st.st_mode)) {
			_cleanup_close_ int fd = open_dir(dir, entry->d_name);

			gone(h, fd, -1, below, fresh, depth + 1);
		} else {
			found(h, below, read_one(h, dir, entry->d_name, below, &st), NULL, fresh);
		}
	}
}

static void compare(struct held *h, int upper, int lower, const char *path, int depth);

/* What the upper directory has under a name. */
static void compare_name(struct held *h, int upper, int lower, const char *name, const char *path,
			 int depth)
{
	_cleanup_close_ int up = -1, low = -1;
	struct stat st, old;
	bool there = lower >= 0 && fstatat(lower, name, &old, AT_SYMLINK_NOFOLLOW) == 0;
	bool fresh;

	if (fstatat(upper, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	fresh = is_fresh(h, &st);
	low = there && S_ISDIR(old.st_mode) ? open_dir(lower, name) : -1;
	if (S_ISDIR(st.st_mode)) {
		up = open_dir(upper, name);
		if (there && !S_ISDIR(old.st_mode))
			found(h, path, read_one(h, lower, name, path, &old), NULL, fresh);
		if (up >= 0 && low >= 0 && is_opaque_dir(up))
			gone(h, low, up, path, fresh, depth + 1);
		if (up >= 0)
			compare(h, up, low, path, depth + 1);
		return;
	}
	if (low >= 0)
		gone(h, low, -1, path, fresh, depth + 1);
	if (is_whiteout(&st)) {
		if (there && low < 0)
			found(h, path, read_one(h, lower, name, path, &old), NULL, fresh);
		return;
	}
	found(h, path, there && low < 0 ? read_one(h, lower, name, path, &old) : NULL,
	      read_one(h, upper, name, path, &st), fresh);
}

static void compare(struct held *h, int upper, int lower, const char *path, int depth)
{
	_cleanup_dir_ DIR *names = os_dir_open(upper, ".");
	struct dirent *entry;

	if (depth > DEPTH_MAX) {
		strv_add(&h->list->arena, &h->list->unseen, path);
		h->n++;
	} else {
		while ((entry = os_dir_next(names)) != NULL)
			compare_name(h, upper, lower, entry->d_name,
				     path_join(&h->list->arena, path, entry->d_name), depth);
	}
}

void later_held(struct later_list *list, int upper, int lower, const char *path,
		const struct timespec *since)
{
	static const struct timespec never = { INT64_MAX, 0 };
	struct held h = { .list = list, .since = since ? since : &never };

	compare(&h, upper, lower, path, 0);
}
