/* SPDX-License-Identifier: MIT */
/*
 * Directories renamed in a copy-on-write workspace. See movedir.h for what it does and why it is safe.
 */
#include "guard/movedir.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "cow/copy.h"
#include "guard/caller.h"
#include "os/dir.h"
#include "os/fs.h"
#include "os/linux/files.h"
#include "os/linux/brief.h"
#include "os/linux/kernel.h"
#include "os/linux/seccomp.h"
#include "os/proc.h"

#define OVERLAY_MAGIC 0x794c7630
#define DEPTH_MAX 200

/* One of the two names: a directory and what is called so in it. */
struct end {
	int dir;
	char path[PATH_MAX];
	const char *name;
};

/* --- in the child --- */

static int list_names(int fd, struct arena *arena, struct strv *ret)
{
	_cleanup_dir_ DIR *dir = os_dir_open(fd, ".");
	struct dirent *entry;

	if (!dir)
		return -errno;
	while ((entry = os_dir_next(dir)))
		strv_add(arena, ret, entry->d_name);
	return 0;
}

static int move_dir(int from_dir, const char *from, int to_dir, const char *to, unsigned depth);

static int move_entry(int from, int to, const char *name, unsigned depth)
{
	if (renameat2(from, name, to, name, RENAME_NOREPLACE) == 0)
		return 0;
	return errno == EXDEV ? move_dir(from, name, to, name, depth) : -errno;
}

/* All of them, or none: what was moved goes back when one cannot. */
static int move_entries(int from, int to, unsigned depth)
{
	struct arena arena = { 0 };
	struct strv names = { 0 };
	size_t n = 0;
	int r = depth ? list_names(from, &arena, &names) : -EXDEV;

	for (; r == 0 && n < names.len; n++)
		r = move_entry(from, to, names.v[n], depth - 1);
	for (n = r < 0 && n ? n - 1 : 0; r < 0 && n-- > 0;)
		move_entry(to, from, names.v[n], depth - 1);
	arena_release(&arena);
	return r;
}

static int move_dir(int from_dir, const char *from, int to_dir, const char *to, unsigned depth)
{
	_cleanup_close_ int in = openat(from_dir, from,
					O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_close_ int out = -1;
	struct stat st;
	int r;

	if (in < 0 || fstat(in, &st) < 0)
		return -errno;
	if (mkdirat(to_dir, to, 0700) < 0)
		return -errno;
	out = openat(to_dir, to, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	r = out < 0 ? -errno : move_entries(in, out, depth);
	if (r == 0) {
		copy_xattrs(in, out);
		if (fchmod(out, st.st_mode & 07777) < 0 ||
		    futimens(out, (struct timespec[]){ st.st_atim, st.st_mtim }) < 0 ||
		    unlinkat(from_dir, from, AT_REMOVEDIR) < 0)
			r = -errno;
	}
	if (r < 0)
		unlinkat(to_dir, to, AT_REMOVEDIR);
	return r;
}

/* An empty directory may be replaced. */
static int make_way(const struct end *to, unsigned flags)
{
	struct stat st;

	if (fstatat(to->dir, to->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (flags & RENAME_NOREPLACE)
		return -EEXIST;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	return unlinkat(to->dir, to->name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

/* The new place lies in what is to be moved. */
static bool is_inside(const struct end *from, const struct end *to)
{
	_cleanup_close_ int at = openat(to->dir, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat moved, here, last = { 0 };

	if (at < 0 || fstatat(from->dir, from->name, &moved, AT_SYMLINK_NOFOLLOW) < 0)
		return true;
	for (unsigned i = 0; i < PATH_MAX / 2; i++) {
		int up;

		if (fstat(at, &here) < 0 || os_same_file(&here, &moved))
			return true;
		if (here.st_dev != moved.st_dev || os_same_file(&here, &last))
			return false;
		last = here;
		up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (up < 0)
			return true;
		close(at);
		at = up;
	}
	return true;
}

_Noreturn static void be_child(const struct end *from, const struct end *to, unsigned flags,
			       pid_t parent)
{
	int r;

	os_die_with_parent(SIGKILL);
	if (getppid() != parent)
		_exit(EIO);
	os_close_all_but(3, (int[]){ from->dir, to->dir }, 2);
	os_reset_signals();
	umask(0);
	r = is_inside(from, to) ? -EINVAL : make_way(to, flags);
	if (r == 0)
		r = move_dir(from->dir, from->name, to->dir, to->name, DEPTH_MAX);
	_exit(-r);
}

/* --- in the supervisor --- */

/* What its child says; it is over then. */
static int await_answer(struct move_job *job)
{
	int r = os_await_errno(job->pid);

	close_ptr(&job->source.fd);
	return r < 0 ? r : NOTIFY_DONE;
}

static int on_end(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	struct move_job *job = container_of(source, struct move_job, source);
	struct mover *mover = job->mover;

	loop_remove(mover->loop, source);
	notify_answer(mover->notify, job->id, await_answer(job));
	return 0;
}

static int start_job(struct mover *mover, uint64_t id, const struct end *from, const struct end *to,
		     unsigned flags)
{
	struct move_job *job = NULL;
	pid_t parent = getpid();
	struct err err;

	for (size_t i = 0; !job && i < MOVES_MAX; i++)
		if (mover->jobs[i].source.fd < 0)
			job = &mover->jobs[i];
	if (!job)
		return -EXDEV;
	job->id = id;
	job->pid = fork();
	if (job->pid == 0)
		be_child(from, to, flags, parent);
	job->source.fd = job->pid < 0 ? -1 : os_pidfd_open(job->pid);
	if (job->source.fd >= 0 && loop_add(mover->loop, &job->source, LOOP_IN, &err) == 0)
		return NOTIFY_LATER;
	return job->pid < 0 ? -EXDEV
			    : await_answer(job); /* it is on its way: nobody may copy it, too */
}

/* The directory that the name is in, by no link; the name's own end is cut off. */
static int open_end(const struct seccomp_notif *call, int pidfd, int dirfd, uint64_t address,
		    struct end *ret)
{
	_cleanup_brief_close_ int base = -1;
	const char *dir = ret->path;
	char *slash;
	int n = caller_read_path(call, address, ret->path);

	if (n <= 0)
		return n < 0 ? n : -ENOENT;
	while (n > 1 && ret->path[n - 1] == '/')
		ret->path[--n] = '\0';
	base = ret->path[0] == '/' ? caller_open_dir(call, "root")
	       : dirfd == AT_FDCWD ? caller_open_dir(call, "cwd")
				   : caller_get_fd(pidfd, dirfd);
	if (base < 0)
		return base;
	slash = strrchr(ret->path, '/');
	ret->name = slash ? slash + 1 : ret->path;
	if (slash)
		*slash = '\0';
	else
		dir = ".";
	while (*dir == '/')
		dir++;
	ret->dir = os_openat2(base, *dir ? dir : ".", O_PATH | O_DIRECTORY, 0,
			      RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	if (!strcmp(ret->name, ".") || !strcmp(ret->name, "..") || !*ret->name)
		return -EINVAL;
	return MIN(ret->dir, 0);
}

static bool is_overlay(int fd, struct stat *ret)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == OVERLAY_MAGIC && fstat(fd, ret) == 0;
}

/* A directory, from one place of an overlay to another. */
static bool is_ours(const struct end *from, const struct end *to)
{
	struct stat a, b, st;

	return is_overlay(from->dir, &a) && is_overlay(to->dir, &b) && a.st_dev == b.st_dev &&
	       fstatat(from->dir, from->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static int rename_ends(struct mover *mover, uint64_t id, const struct end *from,
		       const struct end *to, unsigned flags)
{
	if (!notify_is_valid(mover->notify, id) || !is_ours(from, to))
		return NOTIFY_CONTINUE;
	if (renameat2(from->dir, from->name, to->dir, to->name, flags) == 0)
		return NOTIFY_DONE;
	return errno == EXDEV ? start_job(mover, id, from, to, flags) : -errno;
}

int mover_call(void *ctx, const struct seccomp_notif *call)
{
	const char *name = seccomp_call_name(&seccomp_notify_rename, call->data.arch,
					     (uint32_t)call->data.nr);
	const uint64_t *args = (const uint64_t *)call->data.args;
	bool at = name && strcmp(name, "rename") != 0;
	unsigned flags = name && !strcmp(name, "renameat2") ? (unsigned)args[4] : 0;
	_cleanup_close_ int pidfd = caller_open(call);
	struct end from = { .dir = -1 }, to = { .dir = -1 };
	int r;

	if (!name || pidfd < 0 || (flags & ~(unsigned)RENAME_NOREPLACE))
		return NOTIFY_CONTINUE;
	r = open_end(call, pidfd, at ? (int)args[0] : AT_FDCWD, args[at ? 1 : 0], &from);
	if (r == 0)
		r = open_end(call, pidfd, at ? (int)args[2] : AT_FDCWD, args[at ? 3 : 1], &to);
	/* Whatever is wrong with it, the kernel says it better. */
	r = r < 0 ? NOTIFY_CONTINUE : rename_ends(ctx, call->id, &from, &to, flags);
	close_ptr(&from.dir);
	close_ptr(&to.dir);
	return r;
}

void mover_start(struct mover *mover, struct loop *loop, struct notify *notify)
{
	*mover = (struct mover){ .loop = loop, .notify = notify };
	for (size_t i = 0; i < MOVES_MAX; i++)
		mover->jobs[i] = (struct move_job){
			.mover = mover,
			.source = { .fd = -1, .on_event = on_end },
		};
}

void mover_stop(struct mover *mover)
{
	for (size_t i = 0; mover->loop && i < MOVES_MAX; i++) {
		struct move_job *job = &mover->jobs[i];

		if (job->source.fd < 0)
			continue;
		/* The sandbox is dead; a directory that is half moved is whole when the rest follows. */
		loop_remove(mover->loop, &job->source);
		close(job->source.fd);
		(void)os_await(job->pid);
	}
	mover->loop = NULL;
}
