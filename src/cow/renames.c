/* SPDX-License-Identifier: MIT */
/*
 * Renamed files: a deleted one and an added one are a pair when the added one says that it came from
 * there (overlayfs notes the file handle of what it copied up), or when both hold the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/path.h"
#include "cow/changes.h"
#include "os/linux/files.h"

#define HANDLE_MAX 128
#define ORIGIN_HEAD 21 /* version, magic, length, flags, type, 16 bytes of the file system's own */
#define TRIES_MAX 64   /* files of the same size that are compared with one */

struct origin {
	unsigned char type;
	size_t len; /* 0: not known */
	unsigned char id[HANDLE_MAX];
};

/* The overlay's mark on a file that was copied up from the project. */
static void read_origin(int dir, const char *name, struct origin *ret)
{
	_cleanup_close_ int fd = node_open(dir, name);
	unsigned char buf[HANDLE_MAX];
	ssize_t n = fd < 0 ? -1 : fgetxattr(fd, "user.overlay.origin", buf, sizeof(buf));

	ret->len = 0;
	if (n <= ORIGIN_HEAD || buf[1] != 0xfb || buf[2] != n)
		return;
	ret->type = buf[4];
	ret->len = (size_t)n - ORIGIN_HEAD;
	memcpy(ret->id, buf + ORIGIN_HEAD, ret->len);
}

/* The handle that the project's file has. */
static void read_handle(int dir, const char *name, struct origin *ret)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + HANDLE_MAX];
	} u = { .handle.handle_bytes = HANDLE_MAX };
	int mount_id;

	ret->len = 0;
	if (name_to_handle_at(dir, name, &u.handle, &mount_id, 0) < 0 ||
	    u.handle.handle_bytes > HANDLE_MAX)
		return;
	ret->type = (unsigned char)u.handle.handle_type;
	ret->len = u.handle.handle_bytes;
	memcpy(ret->id, u.handle.f_handle, ret->len);
}

/* The kernel rounds a handle's length up to whole words. */
static bool same_origin(const struct origin *a, const struct origin *b)
{
	size_t n = MIN(a->len, b->len);

	return n && a->type == b->type && (a->len + 3) / 4 == (b->len + 3) / 4 &&
	       !memcmp(a->id, b->id, n);
}

struct side {
	size_t index;
	uint64_t size;
	struct origin origin;
	bool used;
};

static int by_size(const void *a, const void *b)
{
	const struct side *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static size_t collect(const struct changes *changes, const struct cow *cow, bool added,
		      struct side *sides)
{
	size_t n = 0;

	for (size_t i = 0; i < changes->n; i++) {
		const struct change *c = &changes->v[i];
		const struct node *node = added ? &c->new : &c->old;
		_cleanup_close_ int dir = -1;

		if (c->status != (added ? CHANGE_ADDED : CHANGE_DELETED) || !S_ISREG(node->mode) ||
		    c->conflict || !node->size)
			continue;
		sides[n] = (struct side){ .index = i, .size = node->size };
		dir = cow->copy ? -1 : node_open_parent(added ? cow->upper : cow->root, c->path);
		if (dir >= 0)
			(added ? read_origin : read_handle)(dir, path_name(c->path),
							    &sides[n].origin);
		n++;
	}
	qsort(sides, n, sizeof(*sides), by_size);
	return n;
}

static bool same_file(const struct changes *changes, const struct cow *cow, const struct side *old,
		      const struct side *new)
{
	const struct change *a = &changes->v[old->index], *b = &changes->v[new->index];
	_cleanup_close_ int dir_a = node_open_parent(cow->root, a->path);
	_cleanup_close_ int dir_b = node_open_parent(cow->upper, b->path);

	return dir_a >= 0 && dir_b >= 0 &&
	       node_same_content(dir_a, path_name(a->path), &a->old, dir_b, path_name(b->path),
				 &b->new) > 0;
}

static void pair(struct changes *changes, struct side *old, struct side *new, bool content)
{
	const struct change *gone = &changes->v[old->index];
	struct change *change = &changes->v[new->index];

	old->used = new->used = true;
	change->status = CHANGE_RENAMED;
	change->from = gone->path;
	change->from_node = gone->old;
	change->from_sensitive = gone->sensitive;
	change->content = content;
}

static void match_origins(struct changes *changes, const struct cow *cow, struct side *old,
			  size_t n_old, struct side *new, size_t n_new)
{
	for (size_t i = 0; i < n_new; i++)
		for (size_t k = 0; new[i].origin.len &&k < n_old; k++)
			if (!new[i].used && !old[k].used &&
			    same_origin(&old[k].origin, &new[i].origin))
				pair(changes, &old[k], &new[i],
				     !same_file(changes, cow, &old[k], &new[i]));
}

/* Both are sorted by size. */
static void match_content(struct changes *changes, const struct cow *cow, struct side *old,
			  size_t n_old, struct side *new, size_t n_new)
{
	size_t first = 0;

	for (size_t i = 0; i < n_new; i++) {
		unsigned tries = 0;

		while (first < n_old && old[first].size < new[i].size)
			first++;
		for (size_t k = first;
		     k < n_old && old[k].size == new[i].size && !new[i].used &&tries < TRIES_MAX;
		     k++) {
			if (old[k].used)
				continue;
			tries++;
			if (same_file(changes, cow, &old[k], &new[i]))
				pair(changes, &old[k], &new[i], false);
		}
	}
}

static void mark_emptied(struct changes *changes, const char *path)
{
	struct change *above;

	if (!strchr(path, '/'))
		return;
	above = (struct change *)changes_at(changes, path_parent(&changes->arena, path));
	if (above && above->status == CHANGE_DELETED)
		above->emptied = true;
}

static void drop_used(struct changes *changes, const struct side *old, size_t n_old)
{
	_cleanup_free_ bool *used = calloc(changes->n, sizeof(*used));
	size_t n = 0;

	if (!used)
		abort();
	for (size_t i = 0; i < n_old; i++) {
		used[old[i].index] = old[i].used;
		if (old[i].used)
			mark_emptied(changes, changes->v[old[i].index].path);
	}
	for (size_t i = 0; i < changes->n; i++)
		if (!used[i])
			changes->v[n++] = changes->v[i];
	changes->n = n;
}

void changes_find_renames(struct changes *changes, const struct cow *cow)
{
	_cleanup_free_ struct side *old = calloc(changes->n + 1, sizeof(*old));
	_cleanup_free_ struct side *new = calloc(changes->n + 1, sizeof(*new));
	size_t n_old, n_new;

	if (!old || !new)
		abort();
	n_new = collect(changes, cow, true, new);
	n_old = n_new ? collect(changes, cow, false, old) : 0;
	if (!n_old)
		return;
	if (n_old * n_new <= 4000000)
		match_origins(changes, cow, old, n_old, new, n_new);
	match_content(changes, cow, old, n_old, new, n_new);
	drop_used(changes, old, n_old);
}
