/* SPDX-License-Identifier: MIT */
/*
 * Places: a directory and a name in it, in the sandbox's view (broker_find.c) and here in the tree that can
 * be written. The directory of the sandbox's view cannot be turned into a writable one; its path is
 * asked for (it is the current one, whatever name led there), opened beneath the writable place
 * without following a link, and compared by device and inode. Where a mount of the sandbox's own
 * lies in between they differ, and the kernel's answer is the right one.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/statvfs.h>

#include "guard/broker_priv.h"
#include "os/fs.h"
#include "os/linux/files.h"

void place_release(struct place *p)
{
	if (p->is_kept)
		p->view = -1;
	close_ptr(&p->view);
	close_ptr(&p->object);
	close_ptr(&p->own_dir);
}

const char *place_bare_name(const struct place *p, char buf[NAME_MAX + 2])
{
	size_t n = strcspn(p->name, "/");

	memcpy(buf, p->name, n);
	buf[n] = '\0';
	return buf;
}

int place_take_name(struct place *p, const char *name, size_t n)
{
	if (n > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(p->name, name, n);
	p->name[n] = '\0';
	return 0;
}

/* By its name inside. */
static const struct anchor *find_anchor(struct broker *b, const char *path)
{
	for (size_t i = 0; i < b->n_anchors; i++) {
		const struct anchor *a = &b->anchors[i];
		size_t n = a->inside_len;

		if (!strncmp(path, a->inside, n) && (!path[n] || path[n] == '/'))
			return a;
	}
	return NULL;
}

/* From the name inside to the host's. */
static bool turn(const struct broker *b, const struct anchor *a, char *path, size_t size)
{
	size_t rest = strlen(path + a->inside_len) + 1;

	if (!b->mapped)
		return true;
	if (a->len + rest > size)
		return false;
	memmove(path + a->len, path + a->inside_len, rest);
	memcpy(path, a->path, a->len);
	if (!*path)
		memcpy(path, "/", 2);
	return true;
}

bool place_to_host(struct broker *b, char *path, size_t size)
{
	const struct anchor *a = b->mapped ? find_anchor(b, path) : NULL;

	return !b->mapped || (a && turn(b, a, path, size));
}

bool place_is_ours(struct broker *b, const char *path)
{
	struct file_verdict v;

	if (!find_anchor(b, path))
		return false;
	if (b->mapped)
		return true;
	v = file_rules_write(b->rules, path);
	return v.allowed || v.rule;
}

/* The writable place that the path, which is one inside, lies in; the path is the host's then. */
static const struct anchor *take_anchor(struct broker *b, char *path, size_t size)
{
	const struct anchor *a = find_anchor(b, path);

	return a && a->fd >= 0 && turn(b, a, path, size) ? a : NULL;
}

/* From a place's path: the directory that holds it, in the writable tree. */
static int open_beneath(const struct anchor *a, const char *path, int flags)
{
	const char *below = path + a->len;

	below += strspn(below, "/");
	return os_openat2(a->fd, *below ? below : ".", flags | O_PATH | O_CLOEXEC, 0,
			  RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
}

unsigned place_hash(const char *path, size_t n)
{
	unsigned h = 5381;

	for (size_t i = 0; i < n; i++)
		h = h * 33 + (unsigned char)path[i];
	return h;
}

/* Whether the path, which the sandbox has for a directory of ours, is the one that we have for it. A
 * mount inside shows it elsewhere, where other rules hold. */
static bool is_called(struct broker *b, const struct dir *dir, const char *path)
{
	char now[PATH_MAX];

	return place_path(b, dir->fd, now) > 0 && place_to_host(b, now, sizeof(now)) &&
	       !strcmp(now, path);
}

/* A directory that we have had open, and that is called so now. */
static int find_held(struct broker *b, const char *path, const struct stat *want)
{
	for (size_t i = 0; i < BROKER_DIRS; i++)
		if (b->dirs[i].fd >= 0 && b->dirs[i].ino == want->st_ino &&
		    b->dirs[i].dev == want->st_dev && is_called(b, &b->dirs[i], path))
			return fcntl(b->dirs[i].fd, F_DUPFD_CLOEXEC, 0);
	return -EACCES;
}

/* The directory at path, which must be the given one. A cached one is the same directory still:
 * its inode cannot be another's while we hold it, and the sandbox has just found it at this path,
 * if only we make the mounts. */
static int find_dir(struct request *r, struct place *p, const struct stat *want)
{
	struct dir *slot = &r->b->dirs[place_hash(p->path, strlen(p->path)) % BROKER_DIRS];
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (slot->fd >= 0 && slot->ino == want->st_ino && slot->dev == want->st_dev &&
	    !strcmp(slot->path, p->path) && (!r->nested || is_called(r->b, slot, p->path))) {
		p->dir = slot->fd;
		return 0;
	}
	fd = open_beneath(p->anchor, p->path, O_DIRECTORY);
	if (fd == -EACCES) /* out of reach by its name, but not for who is in it already */
		fd = find_held(r->b, p->path, want);
	if (fd < 0 || fstat(fd, &st) < 0 || !os_same_file(&st, want))
		return OUTSIDE;
	close_ptr(&slot->fd);
	free(slot->path);
	*slot = (struct dir){ strdup(p->path), take_fd(&fd), st.st_dev, st.st_ino };
	if (!slot->path)
		abort(); /* as every allocation here */
	p->dir = slot->fd;
	return 0;
}

int place_keep(struct place *p)
{
	if (p->dir < 0 || p->own_dir >= 0)
		return 0;
	p->own_dir = fcntl(p->dir, F_DUPFD_CLOEXEC, 0);
	p->dir = p->own_dir;
	return p->dir < 0 ? -errno : 0;
}

static int add_name(struct place *p, size_t dir_len)
{
	size_t n = strcspn(p->name, "/");

	if (dir_len == 1)
		dir_len = 0; /* "/" */
	p->dir_len = dir_len;
	p->path[dir_len] = '/';
	memcpy(p->path + dir_len + 1, p->name, n);
	p->path[dir_len + 1 + n] = '\0';
	if (p->slash)
		memcpy(p->name + n, "/", 2);
	return 0;
}

/* A directory itself: the same as an open file. */
static int map_directory(struct request *r, struct place *p)
{
	p->object = take_fd(&p->view);
	return place_of(r, take_fd(&p->object), p);
}

/* The same directory under another name of the caller's own making. */
static int find_mounted(struct request *r, struct place *p, const struct stat *want)
{
	if (place_path(r->b, p->view, p->path) <= 0)
		return OUTSIDE;
	p->anchor = place_by_mount(r, p->view, p->path, PATH_MAX);
	return p->anchor ? find_dir(r, p, want) : OUTSIDE;
}

static int stat_view(const struct broker *b, const struct place *p, bool is_there, struct stat *ret)
{
	if (!p->is_kept || !is_there)
		return fstat(p->view, ret);
	*ret = (struct stat){ .st_dev = b->kept.dev, .st_ino = b->kept.ino, .st_nlink = 1 };
	return 0;
}

static int map(struct request *r, struct place *p)
{
	struct stat st;
	bool is_there;
	int n;

	if (p->object >= 0)
		return 0; /* place_of() did it */
	if (!*p->name)
		return map_directory(r, p);
	n = place_dir_path(r, p->view, p->path, &is_there);
	if (n <= 0)
		return n < 0 ? n : OUTSIDE;
	p->anchor = take_anchor(r->b, p->path, PATH_MAX);
	if (!p->anchor) {
		add_name(p, (size_t)n);
		p->anchor = take_anchor(r->b, p->path, PATH_MAX);
		p->is_anchor = p->anchor != NULL;
		if (p->is_anchor || !r->nested)
			return p->is_anchor ? 0 : OUTSIDE;
	}
	if (stat_view(r->b, p, is_there, &st) < 0)
		return -errno;
	if (st.st_nlink == 0) /* nothing can be made in a directory that was removed */
		return faccessat(p->view, ".", F_OK, AT_EACCESS) < 0 ? -errno : -ENOENT;
	if (!(p->anchor && find_dir(r, p, &st) == 0) && find_mounted(r, p, &st) != 0)
		return OUTSIDE;
	return add_name(p, strlen(p->path));
}

int place_map(struct request *r, struct place *p)
{
	int e = map(r, p);

	if (e == 0)
		hooked_look(r, p);
	return e;
}

/* What is there in the writable tree, and whether the sandbox sees the same. */
bool place_is_same(const struct place *p)
{
	char name[NAME_MAX + 2];
	struct stat st;
	int e;

	if (p->is_anchor)
		e = fstat(p->anchor->fd, &st);
	else
		e = fstatat(p->dir, place_bare_name(p, name), &st, AT_SYMLINK_NOFOLLOW);
	if (!p->exists)
		return e < 0 && errno == ENOENT;
	return e == 0 && os_same_file(&st, &p->st);
}

/* The directory of an open file in the writable tree, and its name there. */
static int find_name(struct place *p)
{
	char *last;

	if (!p->anchor)
		return OUTSIDE;
	last = strrchr(p->path, '/');
	if (place_take_name(p, last + 1, strlen(last + 1)) < 0)
		return OUTSIDE; /* " (deleted)" made it longer than any name */
	p->dir_len = (size_t)(last - p->path);
	p->is_anchor = !p->path[p->anchor->len] || !p->path[1];
	if (p->is_anchor)
		return 0;
	*last = '\0';
	p->own_dir = open_beneath(p->anchor, p->path, O_DIRECTORY);
	p->dir = p->own_dir;
	*last = '/';
	return p->dir < 0 ? OUTSIDE : 0;
}

int place_of(struct request *r, int object, struct place *p)
{
	int n = place_path(r->b, object, p->path);

	close_ptr(&p->object);
	p->object = object;
	p->exists = fstat(object, &p->st) == 0;
	p->slash = false;
	*p->name = '\0';
	if (n <= 0)
		return n < 0 ? n : OUTSIDE;
	p->anchor = take_anchor(r->b, p->path, PATH_MAX);
	if (find_name(p) == 0 && place_is_same(p))
		return 0;
	if (!r->nested || place_path(r->b, object, p->path) <= 0)
		return OUTSIDE;
	close_ptr(&p->own_dir);
	p->anchor = place_by_mount(r, object, p->path, PATH_MAX);
	return find_name(p) == 0 && place_is_same(p) ? 0 : OUTSIDE;
}

int place_beside(const struct place *p, const char *name, struct place *ret)
{
	size_t n = strcspn(name, "/");

	if (p->dir < 0 || p->object >= 0 || n == 0 || name[0] == '.' ||
	    name[n + strspn(name + n, "/")] || place_take_name(ret, name, n) < 0)
		return -EINVAL;
	ret->view = fcntl(p->view, F_DUPFD_CLOEXEC, 0);
	ret->dir = p->dir;
	ret->anchor = p->anchor;
	ret->slash = name[n] == '/';
	memcpy(ret->path, p->path, p->dir_len);
	add_name(ret, MAX(p->dir_len, (size_t)1));
	return MIN(ret->view, 0);
}

int place_open(const struct place *p)
{
	char name[NAME_MAX + 2];
	int fd;

	if (p->is_anchor)
		return fcntl(p->anchor->fd, F_DUPFD_CLOEXEC, 0);
	fd = openat(p->dir, place_bare_name(p, name), O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

bool place_is_readonly(int dir, const char *name)
{
	_cleanup_close_ int fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct statvfs fs;

	return fd >= 0 && fstatvfs(fd, &fs) == 0 && (fs.f_flag & ST_RDONLY);
}

/* A sandbox with names of its own has single files and directories mounted in what is otherwise. */
static bool is_refused(const struct broker *b, const struct place *p)
{
	char name[NAME_MAX + 2];
	struct statvfs fs;

	if (b->mapped && p->exists && p->object < 0)
		return place_is_readonly(p->view, *p->name ? place_bare_name(p, name) : ".");
	return fstatvfs(p->object >= 0 ? p->object : p->view, &fs) == 0 && (fs.f_flag & ST_RDONLY);
}

int place_outside(struct request *r, struct place *p, bool creates)
{
	if (r->quiet || (p->object < 0 && p->view < 0) || (!p->looked && place_stat(p) < 0) ||
	    p->exists == creates)
		return OUTSIDE;
	if (p->exists && !S_ISREG(p->st.st_mode) && !S_ISDIR(p->st.st_mode) &&
	    !S_ISLNK(p->st.st_mode))
		return OUTSIDE; /* a device, say: a read-only mount does not keep it from anybody */
	if (is_refused(r->b, p))
		request_predicted(r, p->path, creates);
	return OUTSIDE;
}

int place_get(struct request *r, struct place *p, int follow)
{
	int dirfd = request_dir(r, r->row->dir);
	char path[PATH_MAX];
	int e = request_read_path(r, r->row->path, path);

	if (e >= 0)
		e = place_find(r, dirfd, path, follow, p);
	return e != 0 ? e : place_map(r, p);
}
