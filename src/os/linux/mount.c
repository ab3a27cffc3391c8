/* SPDX-License-Identifier: MIT */
/* Mounts by descriptor. */
#include "os/linux/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>

#define FUSE_MAGIC 0x65735546
#define OLD_ROOT_MAX 8 /* mounts stacked on the old root */

static unsigned attributes(unsigned flags)
{
	return MOUNT_ATTR_NOSUID | (flags & MOUNT_RO ? MOUNT_ATTR_RDONLY : 0) |
	       (flags & MOUNT_DEV ? 0 : MOUNT_ATTR_NODEV) |
	       (flags & MOUNT_NOEXEC ? MOUNT_ATTR_NOEXEC : 0);
}

static int configure(int fs, const struct fs_option *options, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned cmd = options[i].value ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG;

		if (fsconfig(fs, cmd, options[i].key, options[i].value, 0) < 0)
			return -errno;
	}
	return fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0 ? -errno : 0;
}

int mount_new(const char *type, const struct fs_option *options, size_t n, unsigned flags)
{
	_cleanup_close_ int fs = fsopen(type, FSOPEN_CLOEXEC);
	int fd, r;

	if (fs < 0)
		return -errno;
	r = configure(fs, options, n);
	if (r < 0)
		return r;
	fd = fsmount(fs, FSMOUNT_CLOEXEC, attributes(flags));
	return fd < 0 ? -errno : fd;
}

int mount_set_flags(int mount_fd, unsigned flags)
{
	/* Private: what the host mounts later below the source does not appear inside. */
	struct mount_attr attr = { .attr_set = attributes(flags), .propagation = MS_PRIVATE };
	unsigned recursive = flags & MOUNT_RECURSIVE ? AT_RECURSIVE : 0;

	return mount_setattr(mount_fd, "", AT_EMPTY_PATH | recursive, &attr, sizeof(attr)) < 0
		       ? -errno
		       : 0;
}

int mount_clone(int source_fd, const char *path, unsigned flags)
{
	unsigned recursive = flags & MOUNT_RECURSIVE ? AT_RECURSIVE : 0;
	int fd = open_tree(source_fd, path,
			   OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | recursive);
	int r;

	if (fd < 0)
		return -errno;
	r = mount_set_flags(fd, flags);
	if (r < 0) {
		close(fd);
		return r;
	}
	return fd;
}

int mount_attach(int mount_fd, int dir_fd, const char *path)
{
	unsigned flags = MOVE_MOUNT_F_EMPTY_PATH | (*path ? 0 : MOVE_MOUNT_T_EMPTY_PATH);

	return move_mount(mount_fd, "", dir_fd, path, flags) < 0 ? -errno : 0;
}

int mount_make_readonly(int fd)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY };

	return mount_setattr(fd, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0 ? -errno : 0;
}

int mount_make_writable(int fd)
{
	struct mount_attr attr = { .attr_clr = MOUNT_ATTR_RDONLY };

	return mount_setattr(fd, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0 ? -errno : 0;
}

int mount_enter(int pidfd)
{
	return setns(pidfd, CLONE_NEWUSER | CLONE_NEWNS) < 0 ? -errno : 0;
}

bool mount_is_view(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 &&
	       (fs.f_type == OVERLAYFS_SUPER_MAGIC || fs.f_type == FUSE_MAGIC);
}

bool mount_is_uncovered(int root_fd)
{
	const unsigned want = STATX_INO | STATX_MNT_ID;
	_cleanup_close_ int up = open("/..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct statx root, above;

	if (up < 0 || statx(root_fd, "", AT_EMPTY_PATH, want, &root) < 0 ||
	    statx(up, "", AT_EMPTY_PATH, want, &above) < 0)
		return false;
	return root.stx_ino == above.stx_ino && root.stx_dev_major == above.stx_dev_major &&
	       root.stx_dev_minor == above.stx_dev_minor && root.stx_mnt_id == above.stx_mnt_id;
}

int mount_pivot(int root_fd, struct err *err)
{
	if (fchdir(root_fd) < 0)
		return err_errno(err, errno, "entering the new root");
	/* pivot_root(".", ".") stacks the old root on the new one, with all that was mounted on it;
	 * each umount takes the topmost off. */
	if (syscall(SYS_pivot_root, ".", ".") < 0) {
		err_errno(err, errno, "pivot_root");
		return err_hint(err, "a root file system in memory (initramfs) cannot be left; "
				     "run wrapix from a booted system or a container");
	}
	for (int i = 0; !mount_is_uncovered(root_fd); i++)
		if (i == OLD_ROOT_MAX || umount2(".", MNT_DETACH) < 0)
			return err_errno(err, i == OLD_ROOT_MAX ? EBUSY : errno,
					 "detaching the host's file systems");
	return chdir("/") < 0 ? err_errno(err, errno, "entering '/'") : 0;
}
