/* SPDX-License-Identifier: MIT */
/*
 * A file of a git directory that is locked as git locks it (index, config), put in place of the old one.
 *
 * git works on a copy, and the lock is held only for the moment of the exchange, so that nobody's
 * command finds it locked. A lock that is the same file as our copy is ours: what a kill left is
 * known, and taken away.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>

#include "cow/copy.h"
#include "git/priv.h"
#include "os/fs.h"

enum { LOCK_WAIT_MS = 2000, LOCK_STEP_MS = 50 };

struct names {
	char copy[NAME_MAX], copy_lock[NAME_MAX], lock[NAME_MAX];
};

static struct names names_of(const char *name)
{
	struct names ret;

	snprintf(ret.copy, sizeof(ret.copy), GIT_COPY "%s", name);
	snprintf(ret.copy_lock, sizeof(ret.copy_lock), GIT_COPY "%s.lock", name);
	snprintf(ret.lock, sizeof(ret.lock), "%s.lock", name);
	return ret;
}

static bool same_file(int dir, const char *a, const char *b)
{
	struct stat x, y;

	return fstatat(dir, a, &x, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstatat(dir, b, &y, AT_SYMLINK_NOFOLLOW) == 0 && os_same_file(&x, &y);
}

void git_exchange_repair(int dir, const char *name)
{
	const struct names names = names_of(name);

	if (same_file(dir, names.lock, names.copy))
		unlinkat(dir, names.lock, 0);
	unlinkat(dir, names.copy, 0);
	unlinkat(dir, names.copy_lock, 0);
}

int git_exchange_copy(int dir, const char *name, struct stat *ret)
{
	const struct names names = names_of(name);
	_cleanup_close_ int in = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	_cleanup_close_ int out = -1;

	*ret = (struct stat){ 0 };
	if (in < 0)
		return errno == ENOENT ? 0 : -errno;
	if (fstat(in, ret) < 0)
		return -errno;
	if (!S_ISREG(ret->st_mode))
		return -EINVAL;
	out = openat(dir, names.copy, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		     ret->st_mode & 0777);
	return out < 0 ? -errno : copy_content(in, out);
}

static bool is_still(int dir, const char *name, const struct stat *old)
{
	struct stat now = { 0 };

	if (fstatat(dir, name, &now, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT && !old->st_ino;
	return now.st_ino == old->st_ino && now.st_size == old->st_size &&
	       now.st_ctim.tv_sec == old->st_ctim.tv_sec &&
	       now.st_ctim.tv_nsec == old->st_ctim.tv_nsec;
}

int git_exchange(const struct git_store *store, int dir, const char *name, const struct stat *old)
{
	const struct names names = names_of(name);
	int waited = 0;

	while (linkat(dir, names.copy, dir, names.lock, 0) < 0) {
		if (errno != EEXIST || waited >= LOCK_WAIT_MS)
			return errno == EEXIST ? -EAGAIN : -errno;
		poll(NULL, 0, LOCK_STEP_MS);
		waited += LOCK_STEP_MS;
	}
	if (!is_still(dir, name, old)) {
		unlinkat(dir, names.lock, 0);
		return -EAGAIN;
	}
	git_step(store, "exchange");
	return renameat(dir, names.lock, dir, name) < 0 ? -errno : 0;
}
