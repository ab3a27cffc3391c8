/* SPDX-License-Identifier: MIT */
/*
 * Opening for reading, where a policy denies it by names that no mount can stand for. The file is
 * opened here, in the sandbox's own view, and put into the caller. A call is never let go on once
 * it was looked at: the path may be another by then, and reading is what the kernel would allow.
 *
 * Where mounts stand for every rule, a call is only looked at, for the report: what a rule denies gets its
 * errno here, and anything else goes on, whatever it may be by then; the mounts decide.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "guard/broker_priv.h"
#include "os/fs.h"
#include "os/linux/files.h"

/* A name of the directory that the caller is in or has open, as a path below its own in /proc. */
static bool name_beside(char buf[NAME_MAX + 32], int dirfd, const char *name)
{
	if (!*name || strlen(name) > NAME_MAX || strchr(name, '/') || !strcmp(name, ".."))
		return false;
	if (dirfd == AT_FDCWD)
		stpcpy(stpcpy(buf, "cwd/"), name);
	else
		snprintf(buf, NAME_MAX + 32, "fd/%d/%s", dirfd, name);
	return true;
}

/* O_PATH, or -errno; no link is followed but that of /proc. */
static int open_at_once(struct request *r, int dirfd, const char *path)
{
	_cleanup_close_ int start = -1;
	char name[NAME_MAX + 32];
	int fd;

	if (*path == '/')
		return os_openat2(r->root, path, O_PATH, 0,
				  RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_IN_ROOT);
	if (name_beside(name, dirfd, path)) {
		fd = openat(r->task->proc, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		return fd < 0 ? -EAGAIN : fd; /* it may be another's entry */
	}
	start = walk_start(r, dirfd);
	return start < 0
		       ? -EAGAIN
		       : os_openat2(start, path, O_PATH, 0,
				    RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_BENEATH);
}

/* The same in one step, where no link is on the way: 0, -ENOENT, or OUTSIDE, it is not so simple. */
static int find_at_once(struct request *r, int dirfd, const char *path, struct place *p)
{
	_cleanup_close_ int fd = -1;

	if (r->nested || !*path)
		return OUTSIDE;
	fd = open_at_once(r, dirfd, path);
	if (fd < 0 || fstat(fd, &p->st) < 0 || S_ISLNK(p->st.st_mode))
		return fd == -ENOENT ? -ENOENT : OUTSIDE;
	p->object = take_fd(&fd);
	p->exists = true;
	return 0;
}

/* Whether a rule denies the path, by its name alone; told of if so. */
static bool tell_denied(struct request *r, const char *path)
{
	struct file_verdict v = file_rules_read(r->b->rules, path);

	if (!v.allowed)
		request_denied(r, path, v.rule, NULL);
	return !v.allowed;
}

/* A cover may have been in the way. */
static bool is_covered(const struct request *r, int e)
{
	return e == -EACCES || (e == -ENOENT && r->b->holed);
}

/* By its name the path is one that a rule denies, links not followed or, where the host has no cover,
 * followed. Told of if so. */
static bool tell_covered(struct request *r, int dirfd, const char *path)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	_cleanup_close_ int start = -1, fd = -1;
	char base[PATH_MAX] = "/", whole[2 * PATH_MAX], real[PATH_MAX];

	if (path[0] != '/') {
		start = walk_start(r, dirfd);
		if (start < 0 || place_path(r->b, start, base) <= 0)
			return false;
	}
	snprintf(whole, sizeof(whole), "%s", path_join(&arena, base, path));
	if (!place_to_host(r->b, whole, sizeof(whole)))
		return false;
	if (tell_denied(r, whole))
		return true;
	fd = r->b->mapped ? -1 : os_openat2(AT_FDCWD, whole, O_PATH, 0, RESOLVE_NO_MAGICLINKS);
	return fd >= 0 && place_path(r->b, fd, real) > 0 && tell_denied(r, real);
}

/* That file has this path too, below a root: the host's (AT_FDCWD) or the sandbox's own. */
static bool is_at(int root, const char *path, const struct stat *st)
{
	_cleanup_close_ int fd = os_openat2(root, path, O_PATH | O_NOFOLLOW, 0,
					    RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
						    (root == AT_FDCWD ? 0 : RESOLVE_IN_ROOT));
	struct stat found;

	return fd >= 0 && fstat(fd, &found) == 0 && os_same_file(&found, st);
}

/* Of a kind that holds no file of the host's unless the host has it mounted, and it has not. */
static bool is_private(int object, const struct stat *st)
{
	_cleanup_free_ char *mounts = NULL;
	size_t n;
	char device[32];
	struct statfs fs;

	if (fstatfs(object, &fs) < 0)
		return false;
	if (fs.f_type == PROC_SUPER_MAGIC || fs.f_type == DEVPTS_SUPER_MAGIC)
		return true;
	snprintf(device, sizeof(device), " %u:%u ", major(st->st_dev), minor(st->st_dev));
	return fs.f_type == TMPFS_MAGIC &&
	       os_read_file_at(AT_FDCWD, "/proc/self/mountinfo", 1 << 24, &mounts, &n) == 0 &&
	       !strstr(mounts, device);
}

/* By the name that the file has, or had. Where the sandbox can mount, its name proves nothing: what
 * is not at that place of the host's is refused, unless it is the sandbox's own ('known', or in memory). */
static struct file_verdict judge_read(struct request *r, const struct place *p, char *where,
				      bool known)
{
	static const char gone[] = " (deleted)";
	struct file_verdict v = private_read(r->b, where);
	size_t n = strlen(where), m = strlen(gone);

	if (v.allowed && r->nested && !known && !is_at(AT_FDCWD, where, &p->st) &&
	    !is_private(p->object, &p->st))
		return (struct file_verdict){ .allowed = false };
	if (!v.allowed || n <= m || strcmp(where + n - m, gone) != 0)
		return v;
	where[n - m] = '\0';
	return private_read(r->b, where);
}

/* What was found, if no rule denies it. To cut a file off is to change it: what is not in the sandbox's view, as its
 * standard input, lies on a mount that can be written. */
static int open_judged(struct request *r, struct place *p, int flags)
{
	char where[2 * PATH_MAX]; /* the host's name of it may be longer than the sandbox's */
	bool known = false, named = false;
	struct file_verdict v;
	int e;

	if (place_path(r->b, p->object, where) > 0 && !S_ISLNK(p->st.st_mode)) {
		known = r->lent && is_at(r->b->view, where, &p->st);
		named = place_to_host(r->b, where, sizeof(where));
	}
	if (named) {
		v = judge_read(r, p, where, known);
		if (!v.allowed)
			return request_denied(r, where, v.rule, NULL);
	}
	if ((flags & O_TRUNC) && (!p->st.st_nlink || !in_view(r, p->object, &p->st)))
		return -EROFS;
	e = request_check(r);
	return e != 0 ? e : view_open(r, p, flags);
}

int open_read(struct request *r, const char *path, int flags)
{
	int dirfd = request_dir(r, r->row->dir);
	_cleanup_place_ struct place p = PLACE_NONE;
	bool follow = ends_in_slash(path) || !(flags & O_NOFOLLOW);
	int e = find_at_once(r, dirfd, path, &p);

	if (e == OUTSIDE)
		e = place_find(r, dirfd, path, follow ? FOLLOW : 0, &p);
	if (e == OUTSIDE && p.object < 0)
		return -EACCES; /* a way through /proc that is not the caller's to go */
	if (e >= 0)
		e = view_find(&p);
	if (e < 0)
		return is_covered(r, e) && tell_covered(r, dirfd, path) ? -EACCES : e;
	return open_judged(r, &p, flags);
}

/* The way that the call describes, gone once. Where it leads out of the sandbox's view, as an absolute link on it
 * does to us, or to /proc, where a name means something else to each, there is no saying what it is to the caller. */
static int find_resolved(struct request *r, const char *path, const struct open_how *how,
			 struct place *p)
{
	bool scoped = how->resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT);
	_cleanup_close_ int start = -1;

	if (*path != '/' || scoped) {
		start = walk_start(r, request_dir(r, r->row->dir));
		if (start < 0)
			return start;
		if (in_proc(start))
			return -ENOSYS;
	}
	p->object = os_openat2(start >= 0 ? start : r->root, path,
			       O_PATH | (int)(how->flags & (O_NOFOLLOW | O_DIRECTORY)), 0,
			       how->resolve | (start >= 0 ? 0 : RESOLVE_IN_ROOT));
	if (p->object < 0)
		return p->object;
	if (fstat(p->object, &p->st) < 0)
		return -errno;
	return in_proc(p->object) || !in_view(r, p->object, &p->st) ? -ENOSYS : 0;
}

int open_resolved(struct request *r, const char *path, const struct open_how *how)
{
	_cleanup_place_ struct place p = PLACE_NONE, other = PLACE_NONE;
	int dirfd = request_dir(r, r->row->dir);
	int e = how->resolve & RESOLVE_CACHED ? -EAGAIN : find_resolved(r, path, how, &p);

	if (e == -ENOENT && !(how->resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT)) &&
	    place_find(r, dirfd, path, FOLLOW, &other) >= 0 && view_find(&other) == 0)
		e = -ENOSYS; /* by way of /proc/self, which is nobody to us */
	if (e < 0)
		return is_covered(r, e) && tell_covered(r, dirfd, path) ? -EACCES : e;
	return open_judged(r, &p, (int)how->flags);
}

/* A cover has no permissions at all. */
static bool is_plain(const struct stat *st)
{
	return !S_ISLNK(st->st_mode) && (st->st_mode & 0777);
}

/* A file, or none, in a directory that we have just been to: no cover is on the way there. */
static bool is_seen(struct request *r, const char *path)
{
	const char *name;
	const struct seen *dir = r->b->holed ? NULL : seen_find(r, path, false, &name);
	struct stat st;

	if (!dir)
		return false;
	return fstatat(dir->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? is_plain(&st)
								     : errno == ENOENT;
}

/* A file in a directory that the caller has open: whatever that is called, no cover is in between. */
static bool is_beside(struct request *r, int dirfd, const char *path)
{
	char name[NAME_MAX + 32];
	struct stat st;

	return dirfd >= 0 && !r->b->holed && !r->nested && name_beside(name, dirfd, path) &&
	       fstatat(r->task->proc, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && is_plain(&st);
}

/* Whether the way to the file leads through a cover, or ends in one: -EACCES then. A '.' after the name
 * asks for both at once, and a file needs no descriptor to say that it is none. */
static int look_up(struct request *r, int dirfd, const char *path, int flags)
{
	const char *dot = flags & O_NOFOLLOW ? "" : "/.";
	char whole[2 * PATH_MAX + 4], *end;
	const char *base;
	int fd;

	if (path[0] != '/' && is_beside(r, dirfd, path))
		return 0;
	base = path[0] == '/' ? "" : task_directory(r, dirfd);
	if (!base)
		return -ENOENT;
	end = stpcpy(whole, base);
	if (*base && end[-1] != '/')
		*end++ = '/';
	end = stpcpy(end, path);
	if (is_seen(r, whole))
		return 0;
	stpcpy(end, dot);
	fd = os_openat2(r->b->view, whole, O_PATH | (flags & O_NOFOLLOW), 0,
			RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
	if (fd >= 0)
		close(fd);
	return MIN(fd, 0);
}

/* What the caller calls its own in /proc, which to us would be ours: a directory and what follows. */
static const char *below_self(const char *path, int *dirfd)
{
	static const char self[] = "/proc/self/";
	const char *at = path + strlen(self);
	char *end;

	if (strncmp(path, self, strlen(self)) != 0)
		return path;
	if (!strncmp(at, "root/", 5))
		return at + 4;
	*dirfd = AT_FDCWD;
	if (!strncmp(at, "cwd/", 4))
		return at + 4;
	if (strncmp(at, "fd/", 3) != 0)
		return path;
	*dirfd = (int)strtol(at + 3, &end, 10);
	return *end == '/' ? end + 1 : path;
}

int look_at_read(struct request *r, const char *path, int flags)
{
	int dirfd = request_dir(r, r->row->dir);

	if (covers_are_others(r))
		return OUTSIDE;
	path = below_self(path, &dirfd);
	/* Where something else in a directory can be read, its mount would say that there is no such
	 * file. */
	return is_covered(r, look_up(r, dirfd, path, flags)) && tell_covered(r, dirfd, path)
		       ? -EACCES
		       : OUTSIDE;
}
