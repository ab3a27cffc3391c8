/* SPDX-License-Identifier: MIT */
/*
 * Opening for reading, where a policy denies it by names that no mount can stand for. The file is
 * opened here, in the sandbox's own view, and put into the caller. A call is never let go on once
 * it was looked at: the path may be another by then, and reading is what the kernel would allow.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/path.h"
#include "guard/broker_priv.h"
#include "os/fs.h"

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

/* The file itself, as the sandbox sees it. */
static int find_object(struct place *p)
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

static int open_object(struct request *r, struct place *p, int flags)
{
	_cleanup_close_ int fd = -1;
	char path[32];

	if (S_ISLNK(p->st.st_mode) && !(flags & O_PATH))
		return flags & O_DIRECTORY ? -ENOTDIR : -ELOOP;
	if (flags & O_PATH)
		return open_inject_any(r, p->object, flags);
	if (S_ISFIFO(p->st.st_mode) && !(flags & O_NONBLOCK) && p->view >= 0)
		return open_later(r, p->view, p->name, flags);
	if (S_ISCHR(p->st.st_mode) && p->st.st_rdev == makedev(5, 0))
		fd = open_terminal(r, flags);
	else
		fd = open(fd_path(p->object, path), (flags & ~O_NOFOLLOW) | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? (fd == -1 ? -errno : fd) : open_inject_any(r, fd, flags);
}

/* A cover was in the way: by its name, links not followed, the path is one that a rule denies. */
static int tell_covered(struct request *r, int dirfd, const char *path)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	_cleanup_close_ int start = path[0] == '/' ? -1 : walk_start(r, dirfd);
	char base[PATH_MAX] = "/", *whole;
	struct file_verdict v;

	if (path[0] == '/' || (start >= 0 && place_path(r->b, start, base) > 0)) {
		whole = path_join(&arena, base, path);
		v = file_rules_read(r->b->rules, whole);
		if (!v.allowed)
			request_predicted(r, whole, v.rule);
	}
	return -EACCES;
}

int open_read(struct request *r, const char *path, int flags)
{
	int dirfd = r->row->dir < 0 ? AT_FDCWD : (int)request_arg(r, r->row->dir);
	_cleanup_place_ struct place p = PLACE_NONE;
	bool slash = *path && path[strlen(path) - 1] == '/';
	char where[PATH_MAX];
	struct file_verdict v;
	int e = place_find(r, dirfd, path, slash || !(flags & O_NOFOLLOW) ? FOLLOW : 0, &p);

	if (e == OUTSIDE && p.object < 0)
		return -EACCES; /* a way through /proc that is not the caller's to go */
	if (e >= 0)
		e = find_object(&p);
	if (e < 0)
		return e == -EACCES ? tell_covered(r, dirfd, path) : e;
	if (place_path(r->b, p.object, where) > 0) {
		v = file_rules_read(r->b->rules, where);
		if (!v.allowed && !S_ISLNK(p.st.st_mode))
			return request_denied(r, where, v.rule, NULL);
	}
	e = request_check(r);
	return e != 0 ? e : open_object(r, &p, flags);
}
