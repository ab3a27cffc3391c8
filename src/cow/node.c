/* SPDX-License-Identifier: MIT */
/* What stands at a path, and whether two of them hold the same. */
#include "cow/node.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/path.h"
#include "os/fs.h"

static int64_t ns(const struct timespec *t)
{
	return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

struct node node_from_stat(const struct stat *st)
{
	return (struct node){
		.mode = st->st_mode,
		.size = S_ISDIR(st->st_mode) ? 0 : (uint64_t)st->st_size,
		.mtime = ns(&st->st_mtim),
		.ctime = ns(&st->st_ctim),
		.ino = st->st_ino,
	};
}

int node_at(int dir, const char *name, struct node *ret)
{
	struct stat st;

	*ret = (struct node){ 0 };
	if (dir < 0)
		return 0;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	*ret = node_from_stat(&st);
	return 0;
}

bool node_is_same(const struct node *a, const struct node *b)
{
	if (a->mode != b->mode)
		return false;
	return !node_exists(a) || S_ISDIR(a->mode) ||
	       (a->size == b->size && a->mtime == b->mtime && a->ino == b->ino);
}

static int open_again(int dir, const char *name, int flags, mode_t need)
{
	struct stat st;
	int fd = openat(dir, name, flags), code = errno;

	if (fd >= 0 || code != EACCES || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    S_ISLNK(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & need) == need)
		return fd < 0 ? -code : fd;
	/* Never by a link, which may have taken the place of it since. */
	if (fchmodat(dir, name, (st.st_mode & 07777) | need, AT_SYMLINK_NOFOLLOW) < 0)
		return -code;
	fd = openat(dir, name, flags);
	code = errno;
	if (fchmodat(dir, name, st.st_mode & 07777, AT_SYMLINK_NOFOLLOW) < 0 && fd >= 0) {
		close(fd);
		return -EACCES;
	}
	return fd < 0 ? -code : fd;
}

int node_open(int dir, const char *name)
{
	return open_again(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
			  S_IRUSR);
}

int node_open_dir(int dir, const char *name)
{
	return open_again(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
			  S_IRUSR | S_IXUSR);
}

static int same_bytes(int a, int b)
{
	static char buf[2][1 << 16];

	for (;;) {
		ssize_t n = os_read_full(a, buf[0], sizeof(buf[0]));
		ssize_t m = os_read_full(b, buf[1], sizeof(buf[1]));

		if (n < 0 || m < 0)
			return n < 0 ? (int)n : (int)m;
		if (n != m || memcmp(buf[0], buf[1], (size_t)n) != 0)
			return 0;
		if (n == 0)
			return 1;
	}
}

static int same_links(int dir_a, const char *name_a, int dir_b, const char *name_b)
{
	char target[2][PATH_MAX];
	ssize_t n = readlinkat(dir_a, name_a, target[0], PATH_MAX);
	ssize_t m = readlinkat(dir_b, name_b, target[1], PATH_MAX);

	if (n < 0 || m < 0)
		return -errno;
	return n == m && !memcmp(target[0], target[1], (size_t)n);
}

int node_same_content(int dir_a, const char *name_a, const struct node *a, int dir_b,
		      const char *name_b, const struct node *b)
{
	_cleanup_close_ int fd_a = -1, fd_b = -1;

	if (!node_same_kind(a, b))
		return 0;
	if (S_ISLNK(a->mode))
		return same_links(dir_a, name_a, dir_b, name_b);
	if (!S_ISREG(a->mode) || a->size != b->size)
		return 0;
	fd_a = node_open(dir_a, name_a);
	if (fd_a < 0)
		return fd_a;
	fd_b = node_open(dir_b, name_b);
	return fd_b < 0 ? fd_b : same_bytes(fd_a, fd_b);
}

int node_open_parent(int root, const char *path)
{
	struct arena arena = { 0 };
	int dir = os_openat2(root, strchr(path, '/') ? path_parent(&arena, path) : ".",
			     O_RDONLY | O_DIRECTORY, 0, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);

	arena_release(&arena);
	return dir;
}

bool node_take_number(char **p, uint64_t *ret)
{
	char *end;

	if (**p == ' ' || **p == '-' || **p == '+')
		return false;
	errno = 0;
	*ret = strtoull(*p, &end, 16);
	if (errno || end == *p || *end != ' ')
		return false;
	*p = end + 1;
	return true;
}
