/* SPDX-License-Identifier: MIT */
/*
 * Objects of git-lfs: files that are named by the hash of what is in them. The host gets those that are
 * what their name says; each is hashed in a copy that the session cannot reach.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "base/path.h"
#include "base/sha256.h"
#include "cow/copy.h"
#include "git/priv.h"
#include "os/dir.h"
#include "os/fs.h"
#include "session/record.h"

enum { FAN_MAX = 256, OBJECTS_MAX = 20000 };
#define HOLES_MAX ((off_t)1 << 30) /* of all objects of a round */
#define HEX "0123456789abcdef"
#define COPY_NAME "wrapix-tmp"

static bool is_hex(const char *name, size_t len)
{
	return strlen(name) == len && strspn(name, HEX) == len;
}

/* The file is ours, so that nobody cuts it short under the map. */
static bool hash_is(int fd, const char *want)
{
	char hex[SHA256_HEX];
	struct stat st;
	void *data = NULL;

	if (fstat(fd, &st) < 0)
		return false;
	if (st.st_size)
		data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return false;
	sha256_hex(data ? data : "", (size_t)st.st_size, hex);
	if (data)
		munmap(data, (size_t)st.st_size);
	return !strcmp(hex, want);
}

/* What is nowhere on the disk costs the session nothing, however much of it there is to hash. */
static off_t holes_of(int fd, off_t size)
{
	off_t holes = size, at, end = 0;

	while ((at = lseek(fd, end, SEEK_DATA)) >= 0 && (end = lseek(fd, at, SEEK_HOLE)) > at)
		holes -= end - at;
	return holes;
}

static const char *refusal(struct git_round *round, int fd, const char *name)
{
	struct stat st;
	off_t holes;

	if (fstat(fd, &st) < 0)
		return "it cannot be read";
	holes = holes_of(fd, st.st_size);
	if (holes > HOLES_MAX - round->lfs_holes)
		return "it has too many holes";
	round->lfs_holes += holes;
	return hash_is(fd, name) ? NULL : "it is not what its name says";
}

/* 0 also when it is no object; then it is held. */
static int take(struct git_round *round, int from, int to, const char *name)
{
	_cleanup_close_ int in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	_cleanup_close_ int out = -1;
	const char *why = NULL;
	struct stat st;
	int r;

	if (faccessat(to, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	if (in < 0 || fstat(in, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	unlinkat(to, COPY_NAME, 0);
	out = openat(to, COPY_NAME, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	r = out < 0 ? -errno : copy_content(in, out);
	if (r == 0)
		why = refusal(round, out, name);
	if (why)
		git_hold(round->report, "lfs", name, why);
	else if (r == 0)
		r = renameat(to, COPY_NAME, to, name) < 0 ? -errno : 0;
	unlinkat(to, COPY_NAME, 0);
	return r;
}

typedef int each_fn(struct git_round *round, int from, int to, const char *name);

/* Each name of hexadecimal digits in 'from', with the directory of the same place on the host. */
static int each(struct git_round *round, int from, int to, size_t len, int max, each_fn *fn)
{
	_cleanup_dir_ DIR *list = os_dir_open(from, ".");
	struct dirent *entry;
	int r = list ? 0 : -errno;

	while (r == 0 && max > 0 && (entry = os_dir_next(list)) != NULL)
		if (is_hex(entry->d_name, len)) {
			r = fn(round, from, to, entry->d_name);
			max--;
		}
	return r;
}

static int go_into(struct git_round *round, int from, int to, const char *name, size_t len, int max,
		   each_fn *fn)
{
	_cleanup_close_ int in = record_open_dir(from, name);
	_cleanup_close_ int out = -1;

	if (in < 0)
		return 0;
	if (mkdirat(to, name, 0755) < 0 && errno != EEXIST)
		return -errno;
	out = record_open_dir(to, name);
	return out < 0 ? out : each(round, in, out, len, max, fn);
}

static int second(struct git_round *round, int from, int to, const char *name)
{
	return go_into(round, from, to, name, SHA256_HEX - 1, OBJECTS_MAX, take);
}

static int first(struct git_round *round, int from, int to, const char *name)
{
	return go_into(round, from, to, name, 2, FAN_MAX, second);
}

int git_apply_lfs(struct git_round *round, struct err *err)
{
	struct git_store *store = round->store;
	_cleanup_close_ int private = record_open_dir(AT_FDCWD, store->private);
	_cleanup_close_ int from = private < 0 ? -1
					       : os_openat2(private, "lfs/objects",
							    O_RDONLY | O_DIRECTORY, 0,
							    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	_cleanup_close_ int to = -1, common = -1, lfs = -1;
	char *path = path_join(&round->arena, store->common, "lfs/objects");
	int r;

	if (from < 0)
		return 0;
	common = git_open_host(store, store->common);
	if (mkdirat(common, "lfs", 0755) < 0 && errno != EEXIST)
		return err_errno(err, errno, "making '%s'", path);
	lfs = git_open_host(store, path_parent(&round->arena, path));
	if (lfs < 0 || (mkdirat(lfs, "objects", 0755) < 0 && errno != EEXIST))
		return err_errno(err, errno, "making '%s'", path);
	to = git_open_host(store, path);
	r = to < 0 ? -errno : each(round, from, to, 2, FAN_MAX, first);
	return r < 0 ? err_errno(err, -r, "storing objects of git-lfs in '%s'", path) : 0;
}
