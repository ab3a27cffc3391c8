/* SPDX-License-Identifier: MIT */
/*
 * overlayfs without privileges. The layers are named by descriptor, through /proc/self/fd: so they are
 * what was opened and checked, and no character in a path needs an escape.
 */
#include "os/linux/overlay.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "os/fs.h"
#include "os/linux/mount.h"
#include "os/linux/userns.h"
#include "os/proc.h"

int overlay_mount(int lower, int upper, int work, bool thrown_away)
{
	char paths[3][32];
	const struct fs_option options[] = {
		{ "userxattr", NULL }, /* the kernel's marks, where an ordinary user may write them */
		{ "lowerdir", paths[0] }, { "upperdir", paths[1] },
		{ "workdir", paths[2] },  { "volatile", NULL },
	};
	const int fds[] = { lower, upper, work };

	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		snprintf(paths[i], sizeof(paths[i]), "/proc/self/fd/%d", fds[i]);
	return mount_new("overlay", options, ARRAY_LEN(options) - !thrown_away, 0);
}

int overlay_view(int upper, int lower, unsigned flags)
{
	char paths[64];
	const struct fs_option options[] = { { "userxattr", NULL }, { "lowerdir", paths } };

	snprintf(paths, sizeof(paths), "/proc/self/fd/%d:/proc/self/fd/%d", upper, lower);
	return mount_new("overlay", options, ARRAY_LEN(options), flags);
}

/* A file in memory is one of the kernel's own tmpfs. */
bool overlay_tmpfs_works(void)
{
	_cleanup_close_ int fd = memfd_create("probe", MFD_CLOEXEC);

	return fd >= 0 && fsetxattr(fd, "user.overlay.probe", "y", 1, 0) == 0;
}

/* In a child that is thrown away. The kernel takes only directories that were opened in its own mount
 * namespace. */
_Noreturn static void try_mount(const char *dir)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	struct err err;
	int lower, upper, work;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 || userns_map_self(uid, gid, &err) < 0 ||
	    chdir(dir) < 0)
		_exit(1);
	lower = open("lower", O_PATH | O_DIRECTORY | O_CLOEXEC);
	upper = open("upper", O_PATH | O_DIRECTORY | O_CLOEXEC);
	work = open("work", O_PATH | O_DIRECTORY | O_CLOEXEC);
	_exit(overlay_mount(lower, upper, work, false) < 0);
}

/* The marks that a removed directory leaves must be kept there, too. */
static bool keeps_marks(int dir)
{
	_cleanup_close_ int fd = openat(dir, "upper", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 && fsetxattr(fd, "user.overlay.probe", "y", 1, 0) == 0;
}

static bool probe_in(int dir, const char *path)
{
	pid_t pid;
	int status;

	if (mkdirat(dir, "lower", 0700) < 0 || mkdirat(dir, "upper", 0700) < 0 ||
	    mkdirat(dir, "work", 0700) < 0 || !keeps_marks(dir))
		return false;
	pid = fork();
	if (pid == 0)
		try_mount(path);
	if (pid < 0)
		return false;
	status = os_await(pid);
	if (status < 0)
		return false;
	/* The kernel makes this one unreadable. */
	(void)!fchmodat(dir, "work/work", 0700, 0); /* or it does not exist */
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* What a result holds for: this kernel, and this file system. */
static void describe(const char *base, char *ret, size_t size)
{
	struct utsname kernel = { 0 };
	struct stat st = { 0 };

	uname(&kernel);
	stat(base, &st);
	snprintf(ret, size, "%s %s %llx\n", kernel.release, kernel.version,
		 (unsigned long long)st.st_dev);
}

static bool is_remembered(const char *file, const char *wanted)
{
	_cleanup_free_ char *text = NULL;

	return os_read_file_at(AT_FDCWD, file, 1024, &text, NULL) == 0 && !strcmp(text, wanted);
}

static bool try_in(const char *base)
{
	char path[PATH_MAX];
	_cleanup_close_ int dir = -1;
	bool works;

	if (snprintf(path, sizeof(path), "%s/" OVERLAY_PROBE "XXXXXX", base) >= (int)sizeof(path) ||
	    !mkdtemp(path))
		return false;
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	works = dir >= 0 && probe_in(dir, path);
	os_remove_tree(AT_FDCWD, path);
	return works;
}

/* Trying takes milliseconds, because the kernel syncs the file system when an overlay goes. That it
 * works is remembered; should that have changed, the mount itself fails and says so. */
bool overlay_probe(const char *base)
{
	char wanted[256], file[PATH_MAX];
	int fd;

	if (snprintf(file, sizeof(file), "%s/.overlay", base) >= (int)sizeof(file))
		return false;
	describe(base, wanted, sizeof(wanted));
	if (is_remembered(file, wanted))
		return true;
	if (!try_in(base))
		return false;
	fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0) {
		(void)os_write_all(fd, wanted, strlen(wanted)); /* or it is tried again */
		close(fd);
	}
	return true;
}
