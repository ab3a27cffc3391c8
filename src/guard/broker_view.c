/* SPDX-License-Identifier: MIT */
/*
 * Opening a file as the sandbox sees it, in the caller's place and with what the caller may: there everything is read-only
 * or the sandbox's own, so that no rule has a say about changes. For calls that cannot be let go on, because
 * their path is in memory and may be another by then.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "guard/broker_priv.h"
#include "os/fs.h"
#include "os/linux/files.h"
#include "os/linux/kernel.h"

/* /dev/tty is the terminal of whoever opens it: the caller's, by its number. */
static int open_terminal(struct request *r, int flags)
{
	_cleanup_close_ int fd = openat(r->task->proc, "stat", O_RDONLY | O_CLOEXEC);
	char text[512], path[32];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	unsigned number = 0;
	const char *after;

	if (n < 0)
		return -ENXIO;
	text[n] = '\0';
	after = strrchr(text, ')'); /* the name before it is the caller's choice */
	if (!after || sscanf(after + 1, " %*c %*d %*d %*d %u", &number) != 1 || number == 0)
		return -ENXIO;
	snprintf(path, sizeof(path), "dev/pts/%u", minor(number));
	return os_openat2(r->root, path, flags | O_NOCTTY | O_CLOEXEC, 0,
			  RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
}

int view_find(struct place *p)
{
	int fd = -1;

	if (p->object >= 0)
		return 0;
	if (p->slash && p->exists && !S_ISDIR(p->st.st_mode))
		return -ENOTDIR;
	fd = openat(p->view, *p->name ? p->name : ".", O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	p->object = fd;
	return fstat(fd, &p->st) < 0 ? -errno : 0;
}

/* False for a file that came from outside by a descriptor: standard input, say. What has no name
 * (any more) is nobody else's. */
bool in_view(struct request *r, int object, const struct stat *st)
{
	_cleanup_close_ int fd = -1;
	struct statx a, b;
	char path[PATH_MAX];
	int n = place_path(r->b, object, path);

	if (n == 0 || st->st_nlink == 0)
		return true;
	fd = n < 0 ? -1
		   : os_openat2(r->root, path[1] ? path + 1 : ".", O_PATH | O_NOFOLLOW | O_CLOEXEC,
				0, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
	return fd >= 0 && statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, &a) == 0 &&
	       statx(object, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, &b) == 0 &&
	       (a.stx_mask & b.stx_mask & STATX_MNT_ID) && a.stx_ino == b.stx_ino &&
	       a.stx_mnt_id == b.stx_mnt_id;
}

/* Without waiting for who has a lease on the file; -EWOULDBLOCK then. */
static int open_now(const struct place *p, int flags)
{
	bool may_wait = S_ISREG(p->st.st_mode) && !(flags & O_NONBLOCK);
	_cleanup_close_ int fd = -1;
	char path[32];

	fd = open(fd_path(p->object, path),
		  (flags & ~O_NOFOLLOW) | O_NOCTTY | O_CLOEXEC | (may_wait ? O_NONBLOCK : 0));
	if (fd < 0 || (may_wait && fcntl(fd, F_SETFL, flags & BROKER_SETTABLE) < 0))
		return -errno;
	return take_fd(&fd);
}

int view_open(struct request *r, struct place *p, int flags)
{
	_cleanup_close_ int fd = -1;

	if (S_ISLNK(p->st.st_mode))
		return flags & O_DIRECTORY ? -ENOTDIR : -ELOOP;
	if (S_ISFIFO(p->st.st_mode) && !(flags & O_NONBLOCK))
		return open_later(r, p->object, flags);
	if (S_ISCHR(p->st.st_mode) && p->st.st_rdev == makedev(5, 0))
		fd = open_terminal(r, flags);
	else
		fd = open_now(p, flags);
	if (fd == -EWOULDBLOCK && !(flags & O_NONBLOCK))
		return open_later(r, p->object, flags);
	if (fd < 0)
		return fd;
	return S_ISREG(p->st.st_mode) ? open_inject_file(r, fd, flags)
				      : open_inject_any(r, fd, flags);
}

/* A name that is not there, where the sandbox may make one: in what is its own. */
static int make(struct request *r, struct place *p, int flags, mode_t mode)
{
	_cleanup_close_ int fd = -1;
	struct stat st;
	int e;

	if (p->view < 0 || !*p->name || p->slash)
		return -EROFS;
	if (fstat(p->view, &st) < 0 || !in_view(r, p->view, &st))
		return -EROFS;
	e = task_take_umask(r);
	if (e == 0)
		e = request_check(r);
	if (e != 0)
		return e;
	fd = openat(p->view, p->name, flags | O_EXCL | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC,
		    plain_mode(mode & 07777));
	return fd < 0 ? -errno : open_inject(r, fd, flags);
}

int view_make(struct request *r, const char *path, int flags, mode_t mode)
{
	int follow = flags & (O_EXCL | O_NOFOLLOW) ? 0 : FOLLOW_NEW;
	_cleanup_place_ struct place p = PLACE_NONE;
	int e = place_find(r, request_dir(r, r->row->dir), path, follow, &p);

	if (e == 0)
		e = make(r, &p, flags, mode);
	if (e == OUTSIDE)
		return -EACCES;
	/* Somebody was quicker, and who asked takes what is there. */
	return e == -EEXIST && !(flags & O_EXCL) ? AGAIN : e;
}
