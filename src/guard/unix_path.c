/* SPDX-License-Identifier: MIT */
/*
 * Which file a UNIX socket's address means, and whether it may be connected to.
 *
 * The path is resolved in the caller's view (its root and working directory), to a descriptor that
 * pins the file; what happens to the name afterwards does not matter. That view may have been built
 * by the caller, where namespaces are allowed inside: a path in it proves nothing. So an allowed
 * path counts only when the host has the same file at that path. And no path leads to a socket of
 * wrapix itself (session/control.h, CONTROL_MODE): whoever listens there would take us for its user.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/path.h"
#include "guard/caller.h"
#include "guard/connect_priv.h"
#include "os/fs.h"
#include "os/linux/brief.h"
#include "os/linux/kernel.h"

#define FD_PREFIX "/proc/self/fd/"

bool job_has_path(const struct connect_job *job)
{
	const struct sockaddr_un *un = (const struct sockaddr_un *)&job->address;

	return job->domain == AF_UNIX && job->address.ss_family == AF_UNIX &&
	       job->len > offsetof(struct sockaddr_un, sun_path) && un->sun_path[0];
}

/* From a directory and not out of it; by links that stay in it. */
static int open_below(int dir, const char *path)
{
	int fd = dir < 0 ? dir
			 : os_openat2(dir, path, O_PATH, 0,
				      RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);

	brief_close_ptr(&dir); /* may be no directory at all */
	return fd;
}

/* The way round the length of an address: "/proc/self/fd/7/name". */
static int open_by_fd(const struct seccomp_notif *call, const char *path)
{
	char *end;
	long number = strtol(path + strlen(FD_PREFIX), &end, 10);
	_cleanup_close_ int pidfd = caller_open(call);

	if (*end != '/' || !end[1] || number < 0 || number > INT32_MAX)
		return -ENOENT;
	return pidfd < 0 ? pidfd : open_below(caller_get_fd(pidfd, (int)number), end + 1);
}

static int open_in_root(const struct seccomp_notif *call, const char *path)
{
	_cleanup_close_ int root = caller_open_dir(call, "root");

	return root < 0
		       ? root
		       : os_openat2(root, path, O_PATH, 0, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
}

static int open_relative(const struct seccomp_notif *call, const char *path)
{
	char cwd[PATH_MAX], whole[2 * PATH_MAX], link[64];
	int fd = open_below(caller_open_dir(call, "cwd"), path);
	ssize_t n;

	if (fd != -EXDEV)
		return fd;
	snprintf(link, sizeof(link), "/proc/%u/cwd", call->pid);
	n = readlink(link, cwd, sizeof(cwd) - 1);
	if (n < 0)
		return -errno;
	cwd[n] = '\0';
	snprintf(whole, sizeof(whole), "%s/%s", cwd, path);
	return open_in_root(call, whole);
}

int unix_path_open(const struct seccomp_notif *call, const char *path)
{
	if (!strncmp(path, FD_PREFIX, strlen(FD_PREFIX)))
		return open_by_fd(call, path);
	return path[0] == '/' ? open_in_root(call, path) : open_relative(call, path);
}

static bool is_allowed(const struct strv *allowed, const char *path)
{
	for (size_t i = 0; allowed && i < allowed->len; i++)
		if (path_is_below(path, allowed->v[i]))
			return true;
	return false;
}

/* The host's own file at the path, when it is the one that the caller meant; -1: it is not. */
static int open_same(const char *path, const struct stat *st)
{
	_cleanup_close_ int fd = os_openat2(AT_FDCWD, path, O_PATH, 0,
					    RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	struct stat host;

	if (fd < 0 || fstat(fd, &host) < 0 || !os_same_file(&host, st))
		return -1;
	return take_fd(&fd);
}

/* Memory that was mounted for the sandbox alone, where only it can make sockets. */
static bool is_own(struct connect_guard *guard, const struct stat *st)
{
	struct stat shm;

	if (!guard->own_dev && fstatat(guard->view, "dev/shm", &shm, AT_SYMLINK_NOFOLLOW) == 0)
		guard->own_dev = shm.st_dev;
	return guard->own_dev && st->st_dev == guard->own_dev;
}

int unix_path_judge(struct connect_guard *guard, const struct seccomp_notif *call,
		    struct connect_job *job)
{
	const struct sockaddr_un *un = (const struct sockaddr_un *)&job->address;
	char path[sizeof(un->sun_path) + 1], real[PATH_MAX];
	size_t len = job->len - offsetof(struct sockaddr_un, sun_path);
	_cleanup_close_ int fd = -1;
	struct stat st;
	bool wrapix;
	int r;

	if (len > sizeof(un->sun_path))
		return -EINVAL;
	snprintf(path, sizeof(path), "%.*s", (int)len, un->sun_path);
	fd = unix_path_open(call, path);
	if (fd < 0)
		return fd == -EXDEV ? -EACCES : fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISSOCK(st.st_mode)) { /* nor ever: the kernel says what is wrong with it */
		job->file = take_fd(&fd);
		return 0;
	}
	r = os_fd_name(fd, real);
	if (r < 0)
		return r;
	wrapix = st.st_mode & S_ISVTX; /* its own */
	if (is_own(guard, &st) ||
	    (!wrapix && (unix_was_bound(guard, &st) ||
			 (guard->hooks.bound && guard->hooks.bound(guard->hooks.ctx, fd)))))
		job->file = take_fd(&fd);
	else if (!wrapix && is_allowed(guard->allowed, real))
		job->file = open_same(real, &st);
	if (job->file >= 0)
		return 0;
	guard->hooks.denied(guard->hooks.ctx, (pid_t)call->pid, job->call ? job->call : "connect",
			    real);
	return -EACCES;
}
