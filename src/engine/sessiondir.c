/* SPDX-License-Identifier: MIT */
/* The directory of a session whose sandbox another program makes. */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/path.h"
#include "engine/sessiondir.h"
#include "os/dir.h"
#include "os/fs.h"

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
	int r = os_mkdirs(base, 0700, err);

	if (r == 0 && mkdir(dir, 0700) < 0)
		r = err_errno(err, errno, "making '%s'", dir);
	if (r < 0)
		return r;
	*ret_lock = open(path_join(arena, dir, "lock"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (*ret_lock < 0 || flock(*ret_lock, LOCK_EX | LOCK_NB) < 0)
		return err_errno(err, errno, "locking '%s'", dir);
	return 0;
}

void sessiondir_remove(const char *dir, int lock)
{
	(void)os_remove_tree(AT_FDCWD, dir); /* the next session sweeps */
	if (lock >= 0)
		close(lock);
}

static void sweep_one(int base, const char *id, int (*end)(const void *ctx, const char *id),
		      const void *ctx)
{
	struct arena arena = { 0 };
	_cleanup_close_ int lock = openat(base, arena_printf(&arena, "%s/lock", id),
					  O_RDWR | O_NOFOLLOW | O_CLOEXEC);

	if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0 && end(ctx, id) == 0)
		(void)os_remove_tree(base, id);
	arena_release(&arena);
}

void sessiondir_sweep(const char *base, int (*end)(const void *ctx, const char *id),
		      const void *ctx)
{
	_cleanup_dir_ DIR *dir = opendir(base);

	for (struct dirent *entry; (entry = os_dir_next(dir));)
		if (entry->d_name[0] != '.')
			sweep_one(dirfd(dir), entry->d_name, end, ctx);
}
