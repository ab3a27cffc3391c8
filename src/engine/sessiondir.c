/* SPDX-License-Identifier: MIT */
/* The directory of a session whose sandbox another program makes. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/path.h"
#include "engine/sessiondir.h"
#include "os/dir.h"
#include "os/fs.h"

#define SWEEP_AGE 60

int sessiondir_write(const char *path, const void *data, size_t len, mode_t mode, struct err *err)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	int r = fd < 0 ? -errno : os_write_all(fd, data, len);

	if (r == 0 && fchmod(fd, mode) < 0)
		r = -errno;
	return r < 0 ? err_errno(err, -r, "writing '%s'", path) : 0;
}

int sessiondir_mkdir(const char *path, mode_t mode, struct err *err)
{
	if (os_mkdirs(path, 0755, err) < 0)
		return -err->code;
	return mode && chmod(path, mode) < 0 ? err_errno(err, errno, "making '%s'", path) : 0;
}

int sessiondir_make(struct arena *arena, const char *base, const char *dir, int *ret_lock,
		    struct err *err)
{
	/* Nobody sweeps it before it is locked. */
	char *hidden = arena_printf(arena, "%s/.%s", base, path_name(dir));
	int r = os_mkdirs(base, 0700, err);

	if (r == 0 && mkdir(hidden, 0700) < 0)
		r = err_errno(err, errno, "making '%s'", dir);
	if (r < 0)
		return r;
	*ret_lock = open(path_join(arena, hidden, "lock"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (*ret_lock < 0 || flock(*ret_lock, LOCK_EX | LOCK_NB) < 0 || rename(hidden, dir) < 0)
		r = err_errno(err, errno, "locking '%s'", dir);
	if (r < 0)
		(void)os_remove_tree(AT_FDCWD, hidden);
	return r;
}

void sessiondir_remove(const char *dir, int lock)
{
	(void)os_remove_tree(AT_FDCWD, dir); /* the next session sweeps */
	if (lock >= 0)
		close(lock);
}

static bool is_old(int base, const char *name)
{
	struct stat st;

	return fstatat(base, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       time(NULL) - st.st_mtime > SWEEP_AGE;
}

/* Without a lock it was being made, or removed, when somebody was killed. */
static bool is_nobodys(int base, const char *name, int *ret_lock)
{
	struct arena arena = { 0 };

	*ret_lock = openat(base, arena_printf(&arena, "%s/lock", name),
			   O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	arena_release(&arena);
	if ((*ret_lock < 0 || name[0] == '.') && !is_old(base, name))
		return false;
	return *ret_lock < 0 || flock(*ret_lock, LOCK_EX | LOCK_NB) == 0;
}

static void sweep_one(int base, const char *name, int (*end)(const void *ctx, const char *id),
		      const void *ctx)
{
	_cleanup_close_ int lock = -1;

	if (is_nobodys(base, name, &lock) && (name[0] == '.' || end(ctx, name) == 0))
		(void)os_remove_tree(base, name);
}

void sessiondir_sweep(const char *base, int (*end)(const void *ctx, const char *id),
		      const void *ctx)
{
	_cleanup_dir_ DIR *dir = opendir(base);

	for (struct dirent *entry; (entry = os_dir_next(dir));)
		sweep_one(dirfd(dir), entry->d_name, end, ctx);
}
