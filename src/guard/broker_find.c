/* SPDX-License-Identifier: MIT */
/*
 * Places as the sandbox sees them: from a path to a directory and a name in it, through links as the caller would go.
 * Where that is in the tree that can be written is broker_place.c's.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "guard/broker_priv.h"
#include "os/linux/files.h"

bool ends_in_slash(const char *path)
{
	return *path && path[strlen(path) - 1] == '/';
}

/* Where a way begins. */
struct start {
	int fd;
	int own; /* the same, to be closed; -1: it is kept, or there is none */
};

static void start_release(struct start *start)
{
	close_ptr(&start->own);
}

/* The directory becomes the view. */
static int take_start(struct start *start, struct place *p)
{
	p->is_kept = start->own < 0;
	start->own = -1;
	return start->fd;
}

/* Splits the last component off and goes to the directory before it. */
static int find_parent(struct request *r, struct start *start, char *path, int *links,
		       struct place *p)
{
	size_t len = strlen(path), at;
	int e;

	p->slash = len > 0 && path[len - 1] == '/';
	while (len > 0 && path[len - 1] == '/')
		len--;
	for (at = len; at > 0 && path[at - 1] != '/'; at--)
		;
	if (len == at || !strncmp(path + at, ".", len - at) || !strncmp(path + at, "..", len - at))
		at = strlen(path); /* a directory itself */
	else
		path[len] = '\0';
	e = place_take_name(p, path + at, strlen(path + at));
	path[at] = '\0';
	p->view = at ? walk_dir(r, start->fd, path, links) : take_start(start, p);
	if (p->view < 0 || e == 0)
		return MIN(p->view, 0);
	return faccessat(p->view, ".", F_OK, AT_EACCESS) < 0 ? -errno : e;
}

static void take_stat(struct place *p, const struct statx *st)
{
	p->unmounted = (st->stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) &&
		       !(st->stx_attributes & STATX_ATTR_MOUNT_ROOT);
	p->st = (struct stat){
		.st_dev = makedev(st->stx_dev_major, st->stx_dev_minor),
		.st_ino = st->stx_ino,
		.st_mode = st->stx_mode,
		.st_nlink = st->stx_nlink,
		.st_uid = st->stx_uid,
		.st_gid = st->stx_gid,
		.st_rdev = makedev(st->stx_rdev_major, st->stx_rdev_minor),
		.st_size = (off_t)st->stx_size,
	};
}

/* Who forbids us statx() has an older call for it, which does not know of mounts. */
static int stat_name(struct place *p)
{
	const int flags = AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_NO_AUTOMOUNT;
	char name[NAME_MAX + 2];
	struct statx st;
	int e = statx(p->view, place_bare_name(p, name), flags, STATX_BASIC_STATS, &st);

	if (e == 0)
		take_stat(p, &st);
	return e == 0 || errno == ENOENT ? e : fstatat(p->view, name, &p->st, flags);
}

int place_stat(struct place *p)
{
	int e = p->object >= 0 ? fstat(p->object, &p->st) : stat_name(p);

	p->exists = e == 0;
	p->looked = e == 0 || errno == ENOENT;
	return p->looked ? 0 : -errno;
}

/* The next name to look for; the link's directory becomes the start. */
static int read_link(struct place *p, char path[PATH_MAX], int *links)
{
	ssize_t n = readlinkat(p->view, p->name, path, PATH_MAX - 2);

	if (n < 0)
		return -errno;
	if (++*links > LINKS_MAX)
		return -ELOOP;
	if (n == 0)
		return -ENOENT;
	path[n] = '\0';
	if (p->slash && path[n - 1] != '/')
		memcpy(path + n, "/", 2);
	return 0;
}

int place_set_root(struct request *r)
{
	if (!r->nested || r->own_root >= 0)
		return 0;
	r->own_root = task_open(r, "root");
	r->root = r->own_root;
	return r->own_root < 0 ? r->own_root : 0;
}

/* In the root of a procfs links are names ("mounts" is "self/mounts"), but for the caller's own directory. */
static bool is_proc_name(const struct place *p)
{
	struct stat st;

	return fstat(p->view, &st) == 0 && st.st_ino == PROC_ROOT_INO &&
	       strncmp(p->name, "self", 4) != 0 && strncmp(p->name, "thread-self", 11) != 0;
}

/* A link of procfs is a file and not a name. The way to it may have led through "self", which was
 * our own, so it is gone again, by hand. */
static int follow_proc(struct request *r, int start, const char *dir, int *links, struct place *p)
{
	int fd;

	if (*dir) {
		fd = walk_by_hand(r, start, dir, links);
		close_ptr(&p->view);
		p->view = fd;
	}
	if (p->view < 0)
		return p->view;
	fd = openat(p->view, p->name, O_PATH | O_CLOEXEC);
	if (fd < 0) /* "self" is nobody to us */
		fd = errno == ENOENT ? walk_by_hand(r, p->view, p->name, links) : -errno;
	return fd < 0 ? fd : place_of(r, fd, p);
}

static int find_start(struct request *r, int dirfd, struct start *ret)
{
	if (dirfd == AT_FDCWD)
		ret->fd = kept_start(r, &ret->own);
	else
		ret->fd = ret->own = walk_start(r, dirfd);
	return MIN(ret->fd, 0);
}

/* A link is gone on from where it lies. */
static int restart(struct start *start, struct place *p)
{
	start_release(start);
	start->own = p->is_kept ? fcntl(p->view, F_DUPFD_CLOEXEC, 3) : p->view;
	start->fd = start->own;
	p->is_kept = false;
	p->view = -1;
	return start->fd < 0 ? -errno : 0;
}

int place_find(struct request *r, int dirfd, const char *given, int follow, struct place *p)
{
	_cleanup_(start_release) struct start start = { -1, -1 };
	char path[PATH_MAX];
	int links = 0, e = place_set_root(r);

	if (e == 0 && !*given)
		e = -ENOENT;
	if (e < 0)
		return e;
	if (*given != '/')
		e = find_start(r, dirfd, &start);
	if (e < 0)
		return e;
	snprintf(path, sizeof(path), "%s", given);
	for (;;) {
		e = find_parent(r, &start, path, &links, p);
		if (e != 0 || !follow || !*p->name || (follow == FOLLOW_NEW && p->slash))
			break;
		e = place_stat(p);
		if (e < 0 || !p->exists || !S_ISLNK(p->st.st_mode))
			break;
		if (in_proc(p->view) && !is_proc_name(p))
			return follow_proc(r, start.fd, path, &links, p);
		e = read_link(p, path, &links);
		if (e == 0)
			e = restart(&start, p);
		if (e < 0)
			break;
	}
	return e;
}
