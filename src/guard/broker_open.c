/* SPDX-License-Identifier: MIT */
/*
 * Opening for writing. The file is opened here, beneath the writable directory and without
 * following a link, and put into the caller by the kernel as the result of its call. Only files
 * get there, never a directory or an O_PATH descriptor: a later call relative to one would find the
 * writable tree. What may wait is opened by a child (broker_later.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "guard/broker_priv.h"
#include "os/fs.h"
#include "os/linux/files.h"
#include "os/linux/kernel.h"

#define CHANGES (O_ACCMODE | O_CREAT | O_TRUNC)
#define TMPFILE (O_TMPFILE & ~O_DIRECTORY)
/* What openat(2) ignores, openat2(2) refuses. */
#define VALID                                                                                  \
	(O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_SYNC |  \
	 O_ASYNC | O_DIRECT | O_LARGEFILE | O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_CLOEXEC | \
	 O_PATH | O_TMPFILE)

enum { NOT_NEW = 200 };

/* What the kernel says before it asks whether the file system can be written. */
static int early_answer(const struct place *p, int flags)
{
	if (!p->exists && !(flags & O_CREAT))
		return -ENOENT;
	if (p->exists && (flags & O_CREAT) && (flags & O_EXCL))
		return -EEXIST;
	if (p->exists && S_ISLNK(p->st.st_mode))
		return flags & O_DIRECTORY ? -ENOTDIR : -ELOOP;
	if (p->exists && S_ISDIR(p->st.st_mode))
		return -EISDIR;
	if (p->slash && p->exists)
		return -ENOTDIR;
	return 0;
}

/* Nothing is mounted there in the sandbox: whatever has this name in the writable tree, in the same directory, is the
 * same file, unless something is mounted there on the host. */
static bool lies_in_dir(const struct place *p)
{
	return p->exists && p->unmounted && p->object < 0 && p->dir >= 0;
}

/* One name, and no link. Unlike os_openat2() it tells of EAGAIN: with one name it means a lease. EXDEV: a file that
 * the sandbox sees in the directory itself is covered on the host. */
static int open_name(const struct place *p, int flags, mode_t mode)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC | O_NOCTTY),
		.mode = flags & O_CREAT ? plain_mode(mode & 07777) : 0,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
			   (lies_in_dir(p) ? RESOLVE_NO_XDEV : 0),
	};
	int fd = (int)syscall(SYS_openat2, p->dir, p->name, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

/* The very file that was judged: its name may be another's when it can be opened. */
static int open_place_later(struct request *r, struct place *p, int flags)
{
	_cleanup_close_ int object = place_open(p);
	struct stat st;

	if (object < 0 || fstat(object, &st) < 0)
		return object < 0 ? object : -errno;
	if (!os_same_file(&st, &p->st))
		return -ENOENT;
	return open_later(r, object, flags);
}

static int open_here(struct request *r, struct place *p, int flags, mode_t mode)
{
	_cleanup_close_ int fd = -1;
	int e = p->exists ? 0 : task_take_umask(r);

	if (e == 0)
		e = request_check(r);
	if (e < 0)
		return e;
	/* A lease on the file must not make us wait; see fcntl(2), F_SETLEASE. */
	fd = open_name(p, flags | (p->exists ? O_NONBLOCK : 0), mode);
	if (fd == -EXDEV)
		return place_outside(r, p, false);
	if (fd == -EWOULDBLOCK && !(flags & O_NONBLOCK))
		return open_place_later(r, p, flags);
	if (fd >= 0 && p->exists && !(flags & O_NONBLOCK) &&
	    fcntl(fd, F_SETFL, flags & BROKER_SETTABLE) < 0)
		return -errno;
	return fd < 0 ? fd : open_inject_as(r, fd, flags, p->exists ? p->st.st_mode : mode);
}

/* Nobody knows whether the name is there. One that is new needs no look, which costs as much as a tenth of all: the
 * kernel says so when it is to be made. NOT_NEW: it is there, or not as simple. */
static int open_new(struct request *r, struct place *p, int flags, mode_t mode)
{
	int e;

	if (!*p->name || p->slash || p->object >= 0 || place_map(r, p) != 0 || p->is_anchor ||
	    p->anchor->home || !git_means_nothing(p) ||
	    !file_rules_write(r->b->rules, p->path).allowed)
		return NOT_NEW;
	e = git_judge_name(r, p, GIT_OPEN);
	if (e == 0)
		e = open_here(r, p, flags | O_EXCL, mode);
	return e == -EEXIST ? NOT_NEW : e;
}

/* Who says O_EXCL expects that it is new; of others it is taken to be as the last two were. */
static bool expects_new(const struct broker *b, int flags)
{
	return (flags & O_CREAT) && !b->gate && !b->watches &&
	       ((flags & O_EXCL) || b->news == BROKER_NEWS);
}

static int try_new(struct request *r, int dirfd, const char *path, int flags, mode_t mode)
{
	_cleanup_place_ struct place p = PLACE_NONE;
	int e = place_find(r, dirfd, path, 0, &p);

	e = e == 0 ? open_new(r, &p, flags, mode) : NOT_NEW;
	if (e == NOT_NEW && !(flags & O_EXCL))
		r->b->news = 0;
	return e;
}

static int open_place(struct request *r, struct place *p, int flags, mode_t mode)
{
	int e = place_map(r, p);

	if (e < 0)
		return e;
	if (e == 0 && !p->exists && !p->looked)
		e = place_stat(p);
	if (e == OUTSIDE || p->is_anchor || (p->exists && !lies_in_dir(p) && !place_is_same(p)))
		return flags & (O_ACCMODE | O_TRUNC) || !p->exists
			       ? place_outside(r, p, flags & O_CREAT && !p->exists)
			       : OUTSIDE;
	if (e < 0)
		return e;
	/* A device of the tree's is the sandbox's mount to refuse. */
	if (p->exists && (S_ISCHR(p->st.st_mode) || S_ISBLK(p->st.st_mode)))
		return OUTSIDE;
	e = early_answer(p, flags);
	if (e < 0)
		return e;
	if (p->exists && !(flags & (O_ACCMODE | O_TRUNC)))
		return OUTSIDE; /* it only reads */
	e = git_open_commondir(r, p, flags);
	if (e == 0)
		e = judge(r, p, GIT_OPEN);
	if (e != 0)
		return e;
	if (!p->exists && gate_makes(r, p))
		return gate_open(r, p, flags);
	if (p->exists && S_ISFIFO(p->st.st_mode) && !(flags & O_NONBLOCK) &&
	    (flags & O_ACCMODE) != O_RDWR)
		return open_place_later(r, p, flags);
	if (!p->exists && r->b->news < BROKER_NEWS)
		r->b->news++;
	return open_here(r, p, flags, mode);
}

/* A file without a name, in a directory where one could be made. */
static int open_tmpfile(struct request *r, struct place *p, int flags, mode_t mode)
{
	_cleanup_close_ int dir = -1, fd = -1;
	int e = place_map(r, p);

	if (e == 0 && p->object < 0)
		e = place_stat(p);
	if (e != 0)
		return e == OUTSIDE ? place_outside(r, p, false) : e;
	if (!p->exists || !S_ISDIR(p->st.st_mode))
		return p->exists ? -ENOTDIR : -ENOENT;
	if (!place_is_same(p))
		return OUTSIDE;
	dir = place_open(p);
	if (dir < 0)
		return dir;
	strncat(p->path, "/#", sizeof(p->path) - strlen(p->path) - 1);
	e = judge(r, p, GIT_CREATE);
	if (e == 0)
		e = task_take_umask(r);
	if (e == 0)
		e = request_check(r);
	if (e != 0)
		return e;
	fd = openat(dir, ".", (flags & ~O_NOFOLLOW) | O_CLOEXEC, plain_mode(mode & 07777));
	return fd < 0 ? -errno : open_inject(r, fd, flags);
}

/* Where no writable place is: OUTSIDE, told of if the mount there is going to refuse it. 0: it may be one. */
static int look_at_write(struct request *r, const char *path, int flags)
{
	const char *name;
	const struct seen *dir = place_is_ours(r->b, path) ? NULL : seen_find(r, path, true, &name);
	struct stat st;
	bool exists;

	if (!dir)
		return 0;
	exists = fstatat(dir->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	if (exists ? S_ISLNK(st.st_mode) : errno != ENOENT)
		return 0;
	if (!dir->readonly || (exists && flags & O_EXCL) ||
	    (exists ? !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) : !(flags & O_CREAT)))
		return OUTSIDE;
	if (!r->b->mapped || !exists || place_is_readonly(dir->fd, name))
		request_predicted(r, path, !exists);
	return OUTSIDE;
}

/* With a look at what is there. */
static int open_found(struct request *r, int dirfd, const char *path, int flags, mode_t mode)
{
	bool tmpfile = (flags & TMPFILE) != 0;
	int follow = flags & O_CREAT ? FOLLOW_NEW : FOLLOW;
	_cleanup_place_ struct place p = PLACE_NONE;
	int e;

	if (flags & O_CREAT ? flags & (O_NOFOLLOW | O_EXCL)
			    : flags & O_NOFOLLOW && !ends_in_slash(path))
		follow = 0;
	e = place_find(r, dirfd, path, tmpfile ? FOLLOW : follow, &p);
	if (e != 0)
		return e == OUTSIDE && *p.path ? place_outside(r, &p, false) : e;
	if (tmpfile)
		return open_tmpfile(r, &p, flags, mode);
	if (!*p.name && p.object < 0) /* a directory */
		return (flags & O_CREAT) && (flags & O_EXCL) ? -EEXIST : -EISDIR;
	if (p.slash && (flags & O_CREAT))
		return faccessat(p.view, ".", F_OK, AT_EACCESS) < 0 ? -errno : -EISDIR;
	return open_place(r, &p, flags, mode);
}

static int open_path(struct request *r, int flags, mode_t mode, const char *path)
{
	int dirfd = request_dir(r, r->row->dir), e;
	bool tmpfile = (flags & TMPFILE) != 0;

	if (!tmpfile && !r->b->watches && look_at_write(r, path, flags) == OUTSIDE)
		return OUTSIDE;
	e = turn_take(r);
	if (e < 0)
		return e;
	e = !tmpfile && expects_new(r->b, flags) ? try_new(r, dirfd, path, flags, mode) : NOT_NEW;
	return e == NOT_NEW ? open_found(r, dirfd, path, flags, mode) : e;
}

/* Reading, and what the kernel refuses before it looks at the path. */
static bool is_change(int flags)
{
	if ((flags & O_PATH) || !(flags & CHANGES))
		return false;
	if (flags & TMPFILE)
		return (flags & O_TMPFILE) == O_TMPFILE && (flags & O_ACCMODE) != O_RDONLY &&
		       !(flags & O_CREAT);
	return !(flags & O_CREAT) || !(flags & O_DIRECTORY);
}

/* What it was shown to be may turn into anything that opens for reading, or finds, and cuts off what is found: in a sandbox with
 * names of its own Landlock refuses that, nested ones have nothing that would, and an inner supervisor is wrapix itself, whose
 * memory nobody else changes. */
static bool may_turn(const struct request *r)
{
	return r->b->reads == FILE_READS_ASKED ? r->lent : r->b->mapped || r->nested;
}

/* In the sandbox's view, by us. */
static int open_in_view(struct request *r, int flags, mode_t mode, const char *path)
{
	int e;

	if ((flags & O_CREAT) && (flags & O_DIRECTORY))
		return -EINVAL;
	if (flags & O_EXCL && flags & O_CREAT)
		return view_make(r, path, flags, mode);
	e = open_read(r, path, flags & ~(O_CREAT | O_EXCL));
	return e == -ENOENT && (flags & O_CREAT) ? view_make(r, path, flags, mode) : e;
}

/* The answer to a call that is not ours. Where reading is denied by name it is not let go on, or its path could be
 * another by then; nor is what cuts a file off that it only reads. What writes may: there the kernel refuses whatever
 * it finds. */
static int not_ours(struct request *r, int flags, mode_t mode, const char *path)
{
	bool asked = r->b->reads == FILE_READS_ASKED;

	if ((flags & O_ACCMODE) != O_RDONLY)
		return OUTSIDE;
	if (r->b->reads == FILE_READS_WATCHED) {
		covers_check(r->b);
		asked = r->b->reads == FILE_READS_ASKED;
	}
	if (asked || ((flags & O_TRUNC) && !may_turn(r)))
		return open_in_view(r, flags, mode, path);
	return r->b->reads == FILE_READS_FREE ? OUTSIDE : look_at_read(r, path, flags);
}

int do_open(struct request *r)
{
	int arg = r->row->arg, flags = r->row->fixed;
	char path[PATH_MAX];
	mode_t mode;
	int e;

	if (!flags)
		flags = (int)request_arg(r, arg++);
	mode = (mode_t)request_arg(r, arg);
	flags &= VALID;
	if ((flags & O_PATH) || (r->b->reads == FILE_READS_FREE && !is_change(flags)))
		return OUTSIDE;
	e = request_read_path(r, r->row->path, path);
	if (e < 0)
		return e;
	e = is_change(flags) ? open_path(r, flags, mode, path) : OUTSIDE;
	return e == OUTSIDE ? not_ours(r, flags, mode, path) : e;
}

/* The caller's limits on the way are kept by going it once with them, in its own view. */
static int check_way(struct request *r, const char *given, uint64_t resolve, int flags)
{
	_cleanup_close_ int start = -1, fd = -1;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s", given);
	if ((flags & O_CREAT) && ((flags & O_EXCL) || ends_in_slash(path)))
		flags |= O_NOFOLLOW; /* and the slash is refused later */
	while ((flags & O_CREAT) && ends_in_slash(path) && path[1])
		path[strlen(path) - 1] = '\0';
	if (*path != '/' || (resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT))) {
		start = walk_start(r, (int)request_arg(r, 0));
		if (start < 0)
			return start;
	}
	fd = os_openat2(start >= 0 ? start : r->root, path,
			O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW), 0, resolve);
	return fd == -ENOENT && (flags & O_CREAT) ? 0 : MIN(fd, 0);
}

/* For reading, where it may go on. Within a root of the call's own a path means another place; an inner supervisor may find a
 * file without opening it. */
static int look_at_openat2(struct request *r, const struct open_how *how)
{
	bool asked = r->b->reads == FILE_READS_ASKED;
	char path[PATH_MAX];
	int e;

	if (r->b->reads == FILE_READS_FREE || (how->flags & O_PATH))
		return OUTSIDE;
	if (how->resolve & RESOLVE_IN_ROOT)
		return asked ? -ENOSYS : OUTSIDE;
	e = request_read_path(r, r->row->path, path);
	if (e >= 0 && asked && how->resolve)
		e = check_way(r, path, how->resolve, (int)how->flags);
	if (e < 0)
		return e;
	return asked ? open_read(r, path, (int)how->flags) : look_at_read(r, path, (int)how->flags);
}

/* Once, because it is in memory. What the kernel thinks of it is asked by a way that begins nowhere. */
static int read_how(struct request *r, struct open_how *ret)
{
	union {
		struct open_how how;
		char bytes[4096]; /* the smallest page, the most that the kernel takes */
	} all = { 0 };
	uint64_t size = request_arg(r, 3);

	if (size > sizeof(all))
		return -E2BIG;
	if (request_read(r, r->row->arg, &all, (size_t)size) < 0)
		return -EFAULT;
	*ret = all.how;
	syscall(SYS_openat2, -1, "-", &all, size);
	return errno == EBADF || errno == EAGAIN ? 0 : -errno;
}

/* For a change that is not ours, and is not let go on. */
static int open_either(struct request *r, const char *path, struct open_how *how)
{
	int e;

	if (how->flags & (O_ACCMODE | O_EXCL))
		return -ENOSYS;
	how->flags &= ~(uint64_t)O_CREAT;
	e = open_resolved(r, path, how);
	return e == -ENOENT ? -ENOSYS : e; /* it was to be made */
}

static int change_by_openat2(struct request *r, const char *path, struct open_how *how)
{
	int flags = (int)how->flags;
	int e = how->resolve ? check_way(r, path, how->resolve, flags) : 0;

	if (e < 0)
		return e;
	/* Within its own root a link may mean another place than it does outside. */
	if (how->resolve & RESOLVE_IN_ROOT)
		return may_turn(r) ? OUTSIDE : -ENOSYS;
	e = open_path(r, flags, (mode_t)how->mode, path);
	if (may_turn(r) || (e != OUTSIDE && e != RETRY))
		return e;
	return e == RETRY ? -ENOSYS : open_either(r, path, how);
}

/* All that it would do is in memory. What cannot be done here is refused in a way that callers know how to do without. */
int do_openat2(struct request *r)
{
	struct open_how how = { 0 };
	char path[PATH_MAX];
	bool change;
	int e;

	if (r->b->reads == FILE_READS_WATCHED)
		covers_check(r->b);
	e = read_how(r, &how);
	if (e == 0)
		e = place_set_root(r);
	if (e < 0)
		return e;
	change = is_change((int)how.flags);
	if (!change && may_turn(r))
		return look_at_openat2(r, &how);
	if (how.flags & O_PATH)
		return -ENOSYS; /* nobody can be given what is found and not opened */
	e = request_read_path(r, r->row->path, path);
	if (e < 0)
		return e;
	return change ? change_by_openat2(r, path, &how) : open_resolved(r, path, &how);
}
