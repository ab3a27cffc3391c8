/* SPDX-License-Identifier: MIT */
/* Files and directories by descriptor: reading with caps, atomic writing, careful removal. */
#include "os/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>

#include "os/dir.h"

#ifndef __O_TMPFILE
#define __O_TMPFILE 0 /* macOS has none: no directory is opened to write, and a name is used */
#endif

static struct {
	os_open_fn *fn;
	void *ctx;
} opener;

void os_open_settings_by(os_open_fn *fn, void *ctx)
{
	opener.fn = fn;
	opener.ctx = ctx;
}

int os_open_settings(const char *path, int flags)
{
	int fd;

	if (opener.fn)
		return opener.fn(opener.ctx, path, flags);
	fd = open(path, flags | O_RDONLY | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

int os_read_fd(int fd, size_t max, char **ret, size_t *ret_len)
{
	_cleanup_free_ char *buf = NULL;
	size_t len = 0, cap = 0;

	for (;;) {
		ssize_t n;

		if (cap - len < 2) {
			char *bigger;

			cap = MIN(MAX(cap * 2, (size_t)4096), max + 2);
			bigger = realloc(buf, cap);
			if (!bigger)
				return -ENOMEM;
			buf = bigger;
		}
		n = read(fd, buf + len, cap - len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		len += (size_t)n;
		if (len > max)
			return -EFBIG;
	}
	buf[len] = '\0';
	*ret = TAKE_PTR(buf);
	if (ret_len)
		*ret_len = len;
	return 0;
}

int os_read_file_at(int dir_fd, const char *path, size_t max, char **ret, size_t *ret_len)
{
	_cleanup_close_ int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	return fd < 0 ? -errno : os_read_fd(fd, max, ret, ret_len);
}

ssize_t os_read_start_at(int dir_fd, const char *path, char *buf, size_t size)
{
	_cleanup_close_ int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);
	ssize_t n;

	buf[0] = '\0';
	if (fd < 0)
		return -errno;
	n = read(fd, buf, size - 1);
	if (n < 0)
		return -errno;
	buf[n] = '\0';
	return n;
}

ssize_t os_read_full(int fd, void *data, size_t len)
{
	size_t got = 0;

	while (got < len) {
		ssize_t n = read(fd, (char *)data + got, len - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

int os_write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

bool os_exists_at(int dir_fd, const char *name)
{
	struct stat st;

	return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

bool os_same_open(int a, int b)
{
	struct stat x, y;

	return fstat(a, &x) == 0 && fstat(b, &y) == 0 && os_same_file(&x, &y);
}

pid_t os_lock_holder(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fcntl(fd, F_GETLK, &lock) < 0 || lock.l_type == F_UNLCK)
		return 0;
	return lock.l_pid;
}

int os_write_new(int dir_fd, const char *name, const void *data, size_t len, mode_t mode)
{
	_cleanup_close_ int fd = openat(dir_fd, name,
					O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

	return fd < 0 ? -errno : os_write_all(fd, data, len);
}

int os_memory_file(const char *what, const void *data, size_t len)
{
	int fd = memfd_create(what, MFD_CLOEXEC);

	if (fd >= 0 && len && (os_write_all(fd, data, len) < 0 || lseek(fd, 0, SEEK_SET) < 0))
		close_ptr(&fd);
	return fd;
}

static int fill(int fd, const void *data, size_t len, bool wait)
{
	int r = os_write_all(fd, data, len);

	return r == 0 && wait && fsync(fd) < 0 ? -errno : r;
}

static bool has_name(int dir_fd, const char *name, int fd)
{
	struct stat is, was;

	return fstat(fd, &was) == 0 && fstatat(dir_fd, name, &is, AT_SYMLINK_NOFOLLOW) == 0 &&
	       os_same_file(&is, &was);
}

/*
 * Gives a whole file that has no name yet this one. In the place of another file it goes by way of tmp, a
 * name that all writers share: what one that was killed left there goes with the next. -EAGAIN: somebody
 * was at it at the same time.
 */
static int name_file(int dir_fd, int fd, const char *tmp, const char *name)
{
	char link[32];

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (linkat(AT_FDCWD, link, dir_fd, name, AT_SYMLINK_FOLLOW) == 0)
		return 0;
	if (errno != EEXIST || (unlinkat(dir_fd, tmp, 0) < 0 && errno != ENOENT))
		return -errno;
	if (linkat(AT_FDCWD, link, dir_fd, tmp, AT_SYMLINK_FOLLOW) < 0)
		return errno == EEXIST ? -EAGAIN : -errno; /* whose it is we do not know */
	if (renameat(dir_fd, tmp, dir_fd, name) < 0 && errno != ENOENT) {
		int code = errno;

		unlinkat(dir_fd, tmp, 0);
		return -code;
	}
	return has_name(dir_fd, name, fd) ? 0 : -EAGAIN;
}

/* By a file without a name, of which a kill leaves nothing; not every file system has them. */
static int write_nameless(int dir_fd, const char *name, const void *data, size_t len, mode_t mode,
			  bool wait)
{
	char tmp[NAME_MAX + 1];
	int r = -EAGAIN;

	if (snprintf(tmp, sizeof(tmp), ".%s.new", name) >= (int)sizeof(tmp))
		return -ENAMETOOLONG;
	for (int tries = 0; r == -EAGAIN && tries < 100; tries++) {
		_cleanup_close_ int fd = openat(dir_fd, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC,
						mode);

		r = fd < 0 ? -errno : fill(fd, data, len, wait);
		r = r == 0 ? name_file(dir_fd, fd, tmp, name) : r;
	}
	return r;
}

static int write_file(int dir_fd, const char *name, const void *data, size_t len, mode_t mode,
		      bool wait, struct err *err)
{
	char tmp[NAME_MAX + 1];
	int fd, r;

	if (write_nameless(dir_fd, name, data, len, mode, wait) == 0)
		return 0;
	if (snprintf(tmp, sizeof(tmp), ".%s.%d", name, (int)getpid()) >= (int)sizeof(tmp))
		return err_errno(err, ENAMETOOLONG, "writing '%s'", name);
	unlinkat(dir_fd, tmp, 0); /* a leftover of a killed process that had our pid */
	fd = openat(dir_fd, tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return err_errno(err, errno, "creating '%s'", tmp);
	r = fill(fd, data, len, wait);
	if (r == 0 && renameat(dir_fd, tmp, dir_fd, name) < 0)
		r = -errno;
	close(fd);
	if (r < 0) {
		unlinkat(dir_fd, tmp, 0);
		return err_errno(err, -r, "writing '%s'", name);
	}
	return 0;
}

int os_write_file_atomic(int dir_fd, const char *name, const void *data, size_t len, mode_t mode,
			 struct err *err)
{
	return write_file(dir_fd, name, data, len, mode, true, err);
}

int os_write_file_soon(int dir_fd, const char *name, const void *data, size_t len, mode_t mode,
		       struct err *err)
{
	return write_file(dir_fd, name, data, len, mode, false, err);
}

void os_sweep_unfinished(int dir_fd)
{
	_cleanup_dir_ DIR *list = os_dir_open(dir_fd, ".");
	struct dirent *entry;

	while ((entry = os_dir_next(list)) != NULL) {
		size_t len = strlen(entry->d_name);

		if (*entry->d_name == '.' && len > 4 && !strcmp(entry->d_name + len - 4, ".new"))
			unlinkat(dir_fd, entry->d_name, 0);
	}
}

int os_mkdirs(const char *path, mode_t mode, struct err *err)
{
	char buf[PATH_MAX];

	if (snprintf(buf, sizeof(buf), "%s", path) >= (int)sizeof(buf))
		return err_errno(err, ENAMETOOLONG, "creating '%s'", path);
	/* Nearly always it is there. */
	if (mkdir(buf, mode) == 0 || errno == EEXIST)
		return 0;
	for (char *p = buf + 1;; p++) {
		char was = *p;

		if (was && was != '/')
			continue;
		*p = '\0';
		if (mkdir(buf, mode) < 0 && errno != EEXIST)
			return err_errno(err, errno, "creating '%s'", buf);
		*p = was;
		if (!was)
			return 0;
	}
}

/* Opens a directory to empty it. One of ours that we may not read or write is made so first, by the
 * descriptor: the name may be another's by then. */
static int open_to_empty(int at, const char *name, struct stat *ret)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(at, name, flags);

	*ret = (struct stat){ 0 };
	if (fd < 0 && errno == EACCES) {
		_cleanup_close_ int path = openat(at, name,
						  O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		char link[32];

		snprintf(link, sizeof(link), "/proc/self/fd/%d", path);
		if (path < 0 || chmod(link, 0700) < 0)
			return -EACCES;
		fd = openat(path, ".", flags);
	}
	if (fd < 0)
		return -errno;
	if (fstat(fd, ret) < 0) {
		int code = errno;

		close(fd);
		return -code;
	}
	if ((ret->st_mode & 0700) != 0700)
		(void)fchmod(fd, 0700); /* or removing what is in it fails and says so */
	return fd;
}

/* A tree is as deep as who made it liked; what is deeper than so many descriptors is moved to its top, and its turn
 * comes there. */
enum { REMOVE_DEPTH = 64 };

struct removal {
	int top;
	dev_t dev;
	unsigned names;
	bool moved;
};

static int move_up(struct removal *removal, int dir, const char *name)
{
	char up[32];

	do {
		snprintf(up, sizeof(up), ".deep-%u", removal->names++);
		if (renameat(dir, name, removal->top, up) == 0) {
			removal->moved = true;
			return 0;
		}
	} while (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR);
	return -errno;
}

static int remove_entries(struct removal *removal, int fd, int depth);

static int remove_dir(struct removal *removal, int at, const char *name, int depth)
{
	struct stat st;
	int fd = open_to_empty(at, name, &st), r;

	if (fd >= 0 && st.st_dev == removal->dev && depth < REMOVE_DEPTH) {
		r = remove_entries(removal, fd, depth + 1);
		return r == 0 && unlinkat(at, name, AT_REMOVEDIR) < 0 ? -errno : r;
	}
	r = fd < 0 ? fd : st.st_dev != removal->dev ? -EXDEV : move_up(removal, at, name);
	if (fd >= 0)
		close(fd);
	return r;
}

static int remove_entries(struct removal *removal, int fd, int depth)
{
	_cleanup_dir_ DIR *dir = os_dir_take(fd);
	struct dirent *entry;
	int r = 0, k;

	if (!dir)
		return -errno;
	while ((entry = os_dir_next(dir))) {
		if (unlinkat(dirfd(dir), entry->d_name, 0) == 0)
			continue;
		if (errno != EISDIR && errno != EPERM) {
			r = -errno;
			continue;
		}
		/* An empty one may be nobody's to look into: overlayfs leaves such. */
		if (unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR) == 0)
			continue;
		k = remove_dir(removal, dirfd(dir), entry->d_name, depth);
		r = k < 0 ? k : r;
	}
	return r;
}

int os_move_new(int from_dir, const char *from, int to_dir, const char *to)
{
	if (renameat2(from_dir, from, to_dir, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	/* A file system without it: link and unlink are as careful, for files. */
	if (linkat(from_dir, from, to_dir, to, 0) < 0 || unlinkat(from_dir, from, 0) < 0)
		return -errno;
	return 0;
}

int os_remove_tree(int dir_fd, const char *name)
{
	_cleanup_close_ int top = -1;
	struct removal removal;
	struct stat st;
	int r;

	if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)
		return 0;
	top = open_to_empty(dir_fd, name, &st);
	if (top < 0)
		return top;
	removal = (struct removal){ .top = top, .dev = st.st_dev };
	do {
		removal.moved = false;
		r = remove_entries(&removal, openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
				   0);
	} while (removal.moved);
	if (r == 0 && unlinkat(dir_fd, name, AT_REMOVEDIR) < 0)
		r = -errno;
	return r;
}

int os_open_plain(const char *path)
{
	int fd = os_openat2(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0,
			    RESOLVE_NO_SYMLINKS);

	if (fd < 0)
		errno = -fd;
	return fd < 0 ? -1 : fd;
}

bool os_is_own_dir(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & 022);
}

int os_fd_name(int fd, char buf[PATH_MAX])
{
	char link[32];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, buf, PATH_MAX - 1);
	if (n < 0)
		return -errno;
	buf[n] = '\0';
	return (int)n;
}

char *os_realpath(struct arena *arena, const char *path)
{
	char buf[PATH_MAX];

	return realpath(path, buf) ? arena_strdup(arena, buf) : NULL;
}

char *os_here(struct arena *arena, struct err *err)
{
	char *here = os_realpath(arena, ".");
	int e = errno;

	if (here)
		return here;
	err_errno(err, e, "finding the working directory");
	if (e == ENOENT)
		err_hint(err, "it was removed; cd to a directory that is there");
	return NULL;
}
