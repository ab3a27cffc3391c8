/* SPDX-License-Identifier: MIT */
/* Copying files and trees: shared extents first, then the kernel's copy, then ours. */
#include "cow/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/str.h"
#include "cow/node.h"
#include "os/dir.h"
#include "os/fs.h"
#include "os/linux/files.h"

#define XATTR_MAX 65536
#define DEPTH_MAX 512

static int copy_by_hand(int from, int to, off_t at, off_t end)
{
	char buf[65536];

	while (at < end) {
		ssize_t n = pread(from, buf, (size_t)MIN(end - at, (off_t)sizeof(buf)), at);
		int r;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		r = lseek(to, at, SEEK_SET) < 0 ? -errno : os_write_all(to, buf, (size_t)n);
		if (r < 0)
			return r;
		at += n;
	}
	return 0;
}

static int copy_part(int from, int to, off_t at, off_t end)
{
	while (at < end) {
		off_t out = at;
		ssize_t n = copy_file_range(from, &at, to, &out,
					    (size_t)MIN(end - at, (off_t)1 << 30), 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			return 0;
		if (n < 0)
			return errno == ENOSPC || errno == EDQUOT || errno == EIO
				       ? -errno
				       : copy_by_hand(from, to, at, end);
	}
	return 0;
}

/* Holes stay holes: a file of no size on the disk may be as long as who made it liked. */
int copy_content(int from, int to)
{
	off_t at, end = 0;
	struct stat st;
	int r = 0;

	if (ioctl(to, FICLONE, from) == 0)
		return 0;
	while (r == 0 && (at = lseek(from, end, SEEK_DATA)) >= 0) {
		end = lseek(from, at, SEEK_HOLE);
		r = end < 0 ? -errno : copy_part(from, to, at, end);
	}
	if (r == 0 && errno != ENXIO)
		r = -errno;
	if (r == 0 && (fstat(from, &st) < 0 || ftruncate(to, st.st_size) < 0))
		r = -errno;
	return r;
}

void copy_xattrs(int from, int to)
{
	_cleanup_free_ char *names = malloc(XATTR_MAX), *value = malloc(XATTR_MAX);
	ssize_t len = names && value ? flistxattr(from, names, XATTR_MAX) : -1;

	for (char *p = names; len > 0 && p < names + len; p += strlen(p) + 1) {
		ssize_t n;

		if (!str_starts(p, "user.") || str_starts(p, "user.overlay."))
			continue;
		n = fgetxattr(from, p, value, XATTR_MAX);
		if (n >= 0)
			(void)!fsetxattr(to, p, value, (size_t)n, 0); /* a comfort */
	}
}

static int copy_one(int from_dir, const char *from, const struct stat *st, int to_dir,
		    const char *to, unsigned depth);

static int copy_file(int from_dir, const char *from, const struct stat *st, int to_dir,
		     const char *to)
{
	_cleanup_close_ int in = node_open(from_dir, from);
	_cleanup_close_ int out = -1;
	int r;

	if (in < 0)
		return in;
	out = openat(to_dir, to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out < 0)
		return -errno;
	r = copy_content(in, out);
	copy_xattrs(in, out);
	if (r == 0 && (fchmod(out, st->st_mode & 0777) < 0 ||
		       futimens(out, (struct timespec[]){ st->st_atim, st->st_mtim }) < 0))
		r = -errno;
	return r;
}

static int copy_link(int from_dir, const char *from, const struct stat *st, int to_dir,
		     const char *to)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(from_dir, from, target, sizeof(target) - 1);

	if (n < 0)
		return -errno;
	target[n] = '\0';
	if (symlinkat(target, to_dir, to) < 0)
		return -errno;
	utimensat(to_dir, to, (struct timespec[]){ st->st_atim, st->st_mtim }, AT_SYMLINK_NOFOLLOW);
	return 0;
}

static int copy_entries(DIR *dir, dev_t dev, int to, unsigned depth)
{
	struct dirent *entry;

	while ((entry = os_dir_next(dir))) {
		struct stat st;
		int r;

		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return -errno;
		if (st.st_dev != dev)
			continue;
		r = copy_one(dirfd(dir), entry->d_name, &st, to, entry->d_name, depth);
		if (r < 0)
			return r;
	}
	return 0;
}

static int copy_dir(int from_dir, const char *from, const struct stat *st, int to_dir,
		    const char *to, unsigned depth)
{
	_cleanup_close_ int out = -1;
	_cleanup_dir_ DIR *dir = os_dir_open(from_dir, from);
	int r;

	if (!dir)
		return -errno;
	if (mkdirat(to_dir, to, 0700) < 0 ||
	    (out = openat(to_dir, to, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
		r = -errno;
	else
		r = depth ? copy_entries(dir, st->st_dev, out, depth - 1) : -ELOOP;
	if (r == 0 && (fchmod(out, st->st_mode & 0777) < 0 ||
		       futimens(out, (struct timespec[]){ st->st_atim, st->st_mtim }) < 0))
		r = -errno;
	return r;
}

static int copy_one(int from_dir, const char *from, const struct stat *st, int to_dir,
		    const char *to, unsigned depth)
{
	if (S_ISDIR(st->st_mode))
		return copy_dir(from_dir, from, st, to_dir, to, depth);
	if (S_ISREG(st->st_mode))
		return copy_file(from_dir, from, st, to_dir, to);
	return S_ISLNK(st->st_mode) ? copy_link(from_dir, from, st, to_dir, to) : 0;
}

int copy_tree(int from_dir, const char *from, int to_dir, const char *to, struct err *err)
{
	struct stat st;
	int r = fstatat(from_dir, from, &st, AT_SYMLINK_NOFOLLOW) < 0
			? -errno
			: copy_one(from_dir, from, &st, to_dir, to, DEPTH_MAX);

	return r < 0 ? err_errno(err, -r, "copying '%s'", from) : 0;
}

#define LIST_NAME "/proc/self/fd/%d/%s"
#define LIST_ACCESS "system.posix_acl_access"
#define LIST_DEFAULT "system.posix_acl_default"

/* By a name below the directory's descriptor: neither side needs to be readable. True when there was one. */
static bool copy_list(int from_dir, const char *from, const char *list, int to_dir, const char *to,
		      const char *as)
{
	_cleanup_free_ char *value = malloc(XATTR_MAX);
	char source[NAME_MAX + 32], target[NAME_MAX + 32];
	ssize_t n;

	snprintf(source, sizeof(source), LIST_NAME, from_dir, from);
	snprintf(target, sizeof(target), LIST_NAME, to_dir, to);
	n = value ? lgetxattr(source, list, value, XATTR_MAX) : -1;
	return n > 0 && lsetxattr(target, as, value, (size_t)n, 0) == 0;
}

bool copy_access(int from_dir, const char *from, int to_dir, const char *to)
{
	return copy_list(from_dir, from, LIST_ACCESS, to_dir, to, LIST_ACCESS);
}

bool copy_inherited(int dir, int to_dir, const char *to)
{
	struct stat st;

	if (fstatat(to_dir, to, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
		(void)copy_list(dir, ".", LIST_DEFAULT, to_dir, to, LIST_DEFAULT);
	return copy_list(dir, ".", LIST_DEFAULT, to_dir, to, LIST_ACCESS);
}

void copy_inherits_nothing(int dir)
{
	(void)!fremovexattr(dir, LIST_DEFAULT);
}

/* The group first and the mode last: a change of the first takes bits away, and a list has some of the mode in it. */
static int copy_rights(int from_dir, const char *from, const struct stat *st, int to_dir,
		       const char *to)
{
	(void)!fchownat(to_dir, to, (uid_t)-1, st->st_gid, AT_SYMLINK_NOFOLLOW);
	if (S_ISLNK(st->st_mode))
		return 0;
	copy_access(from_dir, from, to_dir, to);
	(void)copy_list(from_dir, from, LIST_DEFAULT, to_dir, to, LIST_DEFAULT);
	return fchmodat(to_dir, to, st->st_mode & 07777, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

int copy_own(int from_dir, const char *from, int to_dir, const char *to, struct err *err)
{
	struct timespec times[2];
	struct stat st;
	int r;

	if (fstatat(from_dir, from, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_errno(err, errno, "copying '%s'", from);
	r = S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)
		    ? mknodat(to_dir, to, st.st_mode & S_IFMT, 0) < 0 ? -errno : 0
		    : copy_one(from_dir, from, &st, to_dir, to, DEPTH_MAX);
	if (r == 0)
		r = copy_rights(from_dir, from, &st, to_dir, to);
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	if (r == 0)
		utimensat(to_dir, to, times, AT_SYMLINK_NOFOLLOW);
	return r < 0 ? err_errno(err, -r, "copying '%s'", from) : 0;
}

typedef void entry_fn(void *ctx, int dir, const char *name, const struct stat *st);

/* Calls fn on every entry below, directories before what is in them. Takes the descriptor over. */
static void each_entry(int fd, unsigned depth, entry_fn *fn, void *ctx)
{
	_cleanup_dir_ DIR *dir = os_dir_take(fd);
	struct dirent *entry;

	while ((entry = os_dir_next(dir))) {
		struct stat st;

		if (fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		fn(ctx, fd, entry->d_name, &st);
		if (S_ISDIR(st.st_mode) && depth)
			each_entry(openat(fd, entry->d_name,
					  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
				   depth - 1, fn, ctx);
	}
}

static int again(int dir)
{
	return openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void open_up(_unused_ void *ctx, int dir, const char *name, const struct stat *st)
{
	if (S_ISDIR(st->st_mode) && (st->st_mode & 0700) != 0700)
		(void)!fchmodat(dir, name, 0700, AT_SYMLINK_NOFOLLOW); /* the removal says it */
}

void open_up_tree(int dir)
{
	each_entry(again(dir), DEPTH_MAX, open_up, NULL);
}

static void add_usage(void *ctx, _unused_ int dir, _unused_ const char *name, const struct stat *st)
{
	*(uint64_t *)ctx += (uint64_t)st->st_blocks * 512;
}

uint64_t tree_usage(int dir)
{
	uint64_t bytes = 0;

	each_entry(again(dir), DEPTH_MAX, add_usage, &bytes);
	return bytes;
}
