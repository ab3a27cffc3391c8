/* SPDX-License-Identifier: MIT */
/*
 * What is known about a file: mode, owner, times, extended attributes, length, and the question
 * whether it may be written. The file is named by a path or by a descriptor. One that was opened for
 * writing is from us (or the sandbox's own) and is changed as it is; one that was opened for reading
 * belongs to the read-only view, and its place is looked up like a path's.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include "guard/broker_priv.h"
#include "guard/caller.h"
#include "os/linux/files.h"
#include "os/linux/kernel.h"

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

#define XATTR_VALUE_MAX 65536

/* The caller's descriptor; *ret_direct when it can be used as it is. */
static int place_of_fd(struct request *r, int number, struct place *p, bool *ret_direct)
{
	struct statvfs fs;
	struct stat link;
	char name[24];
	int fd = walk_start(r, number), e;

	if (fd < 0)
		return fd;
	snprintf(name, sizeof(name), "fd/%d", number);
	if (number == AT_FDCWD || fstatat(r->task->proc, name, &link, AT_SYMLINK_NOFOLLOW) < 0)
		link.st_mode = 0;
	if (r->row->path < 0 && !(link.st_mode & 0700)) {
		close(fd);
		return -EBADF; /* opened with O_PATH */
	}
	e = place_of(r, fd, p);
	/* What was opened for writing in a writable place is from us; its name may be gone. */
	*ret_direct = e != 0 && p->anchor && (link.st_mode & S_IWUSR) && fstatvfs(fd, &fs) == 0 &&
		      !(fs.f_flag & ST_RDONLY);
	return *ret_direct ? 0 : e;
}

/* Not ours: the file as the sandbox sees it, where all is read-only or its own. The call is not let
 * go on, because its path or its descriptor could be another's by then. */
static int outside_object(struct request *r, struct place *p, int *ret)
{
	_cleanup_close_ int fd = -1;
	char name[NAME_MAX + 2];
	int e;

	place_outside(r, p, false);
	fd = take_fd(&p->object);
	if (r->row->fn == do_access || r->b->watches)
		return OUTSIDE; /* a question, or we only look */
	if (fd < 0 && p->view < 0)
		return -EROFS;
	place_bare_name(p, name);
	if (fd < 0)
		fd = openat(p->view, *name ? name : ".", O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &p->st) < 0)
		return -errno;
	if (p->slash && !S_ISDIR(p->st.st_mode))
		return -ENOTDIR;
	if (!in_view(r, fd, &p->st))
		return -EROFS;
	e = request_check(r);
	*ret = e == 0 ? take_fd(&fd) : -1;
	return e;
}

static int find_named(struct request *r, int dirfd, const char *path, int at_flags, struct place *p)
{
	bool follow = ends_in_slash(path) || !(at_flags & AT_SYMLINK_NOFOLLOW);
	int e = place_find(r, dirfd, path, follow ? FOLLOW : 0, p);

	if (e == 0)
		e = place_map(r, p);
	if (e == 0 && p->object < 0)
		e = place_stat(p);
	if (e == 0 && !p->exists)
		e = -ENOENT;
	if (e == 0 && p->slash && !S_ISDIR(p->st.st_mode))
		e = -ENOTDIR;
	return e == 0 && !place_is_same(p) ? OUTSIDE : e;
}

/* Finds the file that the row's arguments name and opens it (O_PATH) where it can be changed. */
static int get_object(struct request *r, int at_flags, struct place *p, int *ret)
{
	int dirfd = request_dir(r, r->row->dir);
	bool direct = false;
	char path[PATH_MAX] = "";
	int e = 0;

	if (at_flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	if (r->row->path >= 0 && (request_arg(r, r->row->path) || r->row->fn != do_utime))
		e = request_read_path(r, r->row->path, path);
	else
		at_flags |= AT_EMPTY_PATH;
	if (e < 0)
		return e;
	if (!*path && (at_flags & AT_EMPTY_PATH))
		e = place_of_fd(r, dirfd, p, &direct);
	else
		e = find_named(r, dirfd, path, at_flags, p);
	if (e == 0 && !direct)
		e = judge(r, p, r->row->fn == do_truncate ? GIT_CREATE : GIT_TOUCH);
	if (e == OUTSIDE)
		return outside_object(r, p, ret);
	if (e == 0)
		e = request_check(r);
	if (e == 0)
		*ret = direct ? take_fd(&p->object) : place_open(p);
	return e != 0 ? e : MIN(*ret, 0);
}

/* What the call says, or implies. */
static int at_flags(const struct request *r)
{
	return r->row->flags < 0 ? r->row->fixed & AT_SYMLINK_NOFOLLOW
				 : (int)request_arg(r, r->row->flags);
}

int do_chmod(struct request *r)
{
	_cleanup_place_ struct place p = PLACE_NONE;
	_cleanup_close_ int fd = -1;
	mode_t mode = (mode_t)request_arg(r, r->row->arg) & 07777;
	int e = get_object(r, at_flags(r), &p, &fd);
	char path[32];

	if (e != 0)
		return e;
	if (S_ISLNK(p.st.st_mode))
		return -EOPNOTSUPP;
	/* The owner's bit the filter has refused; the group's goes without an error, as the kernel has it for who is
	 * not in that group. */
	if (p.anchor && !S_ISDIR(p.st.st_mode))
		mode = plain_mode(mode);
	if (S_ISSOCK(p.st.st_mode) && (p.st.st_mode & S_ISVTX))
		return -EPERM; /* the mark of our own: session/control.h, CONTROL_MODE */
	/* Linux 6.6 takes the descriptor itself. */
	if (syscall(SYS_fchmodat2, fd, "", mode, AT_EMPTY_PATH) == 0)
		return NOTIFY_DONE;
	return request_result(chmod(fd_path(fd, path), mode));
}

/* The old calls of 32-bit programs have ids of 16 bits, and all ones mean "leave it". */
static uint32_t id_arg(const struct request *r, int arg)
{
	uint32_t id = (uint32_t)request_arg(r, arg);
	const char *name = r->row->name;

	if (r->compat &&
	    (!strcmp(name, "chown") || !strcmp(name, "lchown") || !strcmp(name, "fchown")))
		id = (id & 0xffff) == 0xffff ? UINT32_MAX : id & 0xffff;
	return id;
}

int do_chown(struct request *r)
{
	_cleanup_place_ struct place p = PLACE_NONE;
	_cleanup_close_ int fd = -1;
	int e = get_object(r, at_flags(r), &p, &fd);

	if (e != 0)
		return e;
	return request_result(fchownat(fd, "", id_arg(r, r->row->arg), id_arg(r, r->row->arg + 1),
				       AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW));
}

/* On 32 bits a length of 64 comes as two words, on arm after a gap. */
static int64_t length_arg(const struct request *r)
{
	int arg = r->row->arg;

#ifdef __aarch64__
	arg += r->row->fixed == 64;
#endif
	if (r->row->fixed == 64)
		return (int64_t)(request_arg(r, arg) | request_arg(r, arg + 1) << 32);
	return r->compat ? (int32_t)request_arg(r, arg) : (int64_t)request_arg(r, arg);
}

int do_truncate(struct request *r)
{
	_cleanup_place_ struct place p = PLACE_NONE;
	_cleanup_close_ int fd = -1, file = -1;
	int64_t length = length_arg(r);
	struct rlimit limit;
	char path[32];
	int e;

	if (length < 0)
		return -EINVAL;
	e = get_object(r, 0, &p, &fd);
	if (e != 0)
		return e;
	if (prlimit((pid_t)r->notif->pid, RLIMIT_FSIZE, NULL, &limit) == 0 &&
	    limit.rlim_cur != RLIM_INFINITY && (uint64_t)length > limit.rlim_cur)
		return -EFBIG;
	if (S_ISDIR(p.st.st_mode))
		return -EISDIR;
	if (!S_ISREG(p.st.st_mode))
		return -EINVAL;
	/* A lease on the file would make us wait: that caller is told to try again. */
	file = open(fd_path(fd, path), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	return request_result(file < 0 ? file : ftruncate(file, length));
}

int do_access(struct request *r)
{
	_cleanup_place_ struct place p = PLACE_NONE;
	_cleanup_close_ int fd = -1;
	int flags = at_flags(r), mode = (int)request_arg(r, r->row->arg), e;

	if (mode & ~7)
		return -EINVAL;
	r->quiet = true;
	e = get_object(r, flags & ~AT_EACCESS, &p, &fd);
	if (e != 0)
		return e;
	/* Effective and real ids are one inside; by the real ones root would get its rights back. */
	return request_result((int)syscall(SYS_faccessat2, fd, "", mode,
					   AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_EACCESS));
}

/* ------------------------------------------------------------------ times */

/* Two times in one of the forms there have been, by the row's 'fixed': seconds, with microseconds,
 * with nanoseconds, with nanoseconds in 64 bits from a 32-bit program. */
static int read_times(struct request *r, struct timespec ts[2])
{
	int form = r->row->fixed;
	bool narrow = r->compat && form != 4;
	int64_t wide[4] = { 0 };
	int32_t small[4] = { 0 };
	size_t n = form == 1 ? 2 : 4;
	int e = narrow ? request_read(r, r->row->arg, small, n * sizeof(small[0]))
		       : request_read(r, r->row->arg, wide, n * sizeof(wide[0]));

	if (e < 0)
		return e;
	for (size_t i = 0; narrow && i < n; i++)
		wide[i] = small[i];
	for (size_t i = 0; i < 2; i++) {
		int64_t sub = form == 1 ? 0 : wide[2 * i + 1];

		if (form == 2 && (sub < 0 || sub >= 1000000))
			return -EINVAL;
		ts[i].tv_sec = form == 1 ? wide[i] : wide[2 * i];
		ts[i].tv_nsec = form == 2 ? sub * 1000 : r->compat ? (int32_t)sub : sub;
	}
	return 0;
}

int do_utime(struct request *r)
{
	_cleanup_place_ struct place p = PLACE_NONE;
	_cleanup_close_ int fd = -1;
	bool now = !request_arg(r, r->row->arg);
	struct timespec ts[2];
	int e;

	r->quiet = now; /* git tries it on every object that is there already */
	e = now ? 0 : read_times(r, ts);
	if (e == 0)
		e = get_object(r, at_flags(r), &p, &fd);
	if (e != 0)
		return e;
	return request_result(utimensat(fd, "", now ? NULL : ts, AT_EMPTY_PATH));
}

/* ------------------------------------------------------------------ extended attributes */

/* setxattrat(2) has value, size and flags in memory. */
struct xattr_args {
	uint64_t value;
	uint32_t size, flags;
};

struct xattr {
	char name[XATTR_NAME_MAX + 1];
	_Alignas(8) char value[XATTR_VALUE_MAX];
	size_t size;
	int flags;
};

static int read_name(struct request *r, struct xattr *x)
{
	char text[PATH_MAX];
	int n = request_read_path(r, r->row->arg, text);

	if (n == -EFAULT)
		return n;
	if (n <= 0 || n > XATTR_NAME_MAX)
		return -ERANGE;
	memcpy(x->name, text, (size_t)n + 1);
	return 0;
}

static int read_value(struct request *r, struct xattr *x)
{
	struct xattr_args args = { 0 };
	int arg = r->row->arg, e = 0;

	if (r->row->flags >= 0) { /* setxattrat */
		if (request_arg(r, arg + 2) < sizeof(args))
			return -EINVAL;
		e = request_read(r, arg + 1, &args, sizeof(args));
	} else {
		args = (struct xattr_args){ request_arg(r, arg + 1),
					    (uint32_t)request_arg(r, arg + 2),
					    (uint32_t)request_arg(r, arg + 3) };
		if (request_arg(r, arg + 2) > XATTR_VALUE_MAX)
			return -E2BIG;
	}
	if (e == 0 && args.size > XATTR_VALUE_MAX)
		return -E2BIG;
	x->size = args.size;
	x->flags = (int)args.flags;
	if (e == 0 && args.size)
		e = caller_read(r->notif, args.value, x->value, args.size);
	return e;
}

int do_xattr(struct request *r)
{
	bool remove = strstr(r->row->name, "remove") != NULL;
	_cleanup_free_ struct xattr *x = NULL;
	_cleanup_place_ struct place p = PLACE_NONE;
	_cleanup_close_ int fd = -1;
	char path[32];
	int e;

	x = calloc(1, sizeof(*x));
	e = x ? read_name(r, x) : -ENOMEM;
	if (e == 0 && !remove)
		e = read_value(r, x);
	if (e == 0)
		e = get_object(r, at_flags(r), &p, &fd);
	if (e != 0)
		return e;
	if (S_ISLNK(p.st.st_mode))
		return -EPERM; /* what a user may set is not for links */
	fd_path(fd, path);
	return request_result(remove ? removexattr(path, x->name)
				     : setxattr(path, x->name, x->value, x->size, x->flags));
}
