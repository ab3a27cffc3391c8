/* SPDX-License-Identifier: MIT */
/*
 * Changing the mounts of the sandbox itself. The control is root of namespaces of its own, where
 * each of these calls works; inside, no process has the rights, and the filter refuses the call.
 */
#include "selftest/attempt/attempt.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Not <sys/mount.h>: older ones clash with <linux/mount.h>. */
int mount(const char *source, const char *target, const char *type, unsigned long flags,
	  const void *data);
int umount2(const char *target, int flags);

#define MNT_DETACH 2

static int dir(const char *name)
{
	return mkdir(name, 0700) < 0 && errno != EEXIST ? unable("mkdir %s: %m", name) : 0;
}

static int new_tmpfs(void)
{
	return dir("m") ? UNABLE : outcome(mount("x", "m", "tmpfs", 0, NULL));
}

static int bind_usr(void)
{
	return dir("m") ? UNABLE : outcome(mount("/usr", "m", NULL, MS_BIND | MS_REC, NULL));
}

/* The control makes the read-only mount itself; inside it is there. */
static int remount_shown(void)
{
	const char *place = inside ? "/shown" : fact("shown");

	if (!inside && (mount(place, place, NULL, MS_BIND, NULL) < 0 ||
			mount(NULL, place, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) < 0))
		return unable("a read-only mount: %m");
	return outcome(mount(NULL, place, NULL, MS_BIND | MS_REMOUNT, NULL));
}

static int unmount_cover(void)
{
	if (!inside && mount("/dev/null", "wrapix.json", NULL, MS_BIND, NULL) < 0)
		return unable("a cover: %m");
	return outcome(umount2("wrapix.json", MNT_DETACH));
}

static int unmount_mask(void)
{
	if (!inside && mount("/dev/null", "/proc/keys", NULL, MS_BIND, NULL) < 0)
		return unable("a cover: %m");
	return outcome(umount2("/proc/keys", MNT_DETACH));
}

static int overlay(void)
{
	return dir("m") || dir("upper") || dir("work")
		       ? UNABLE
		       : outcome(mount("x", "m", "overlay", 0,
				       "lowerdir=/usr/bin,upperdir=upper,workdir=work,userxattr"));
}

static int new_proc(void)
{
	return dir("m") ? UNABLE : outcome(mount("x", "m", "proc", 0, NULL));
}

static int new_sysfs(void)
{
	return dir("m") ? UNABLE : outcome(mount("x", "m", "sysfs", 0, NULL));
}

static int new_cgroup(void)
{
	if (dir("m"))
		return UNABLE;
	if (!inside && unshare(CLONE_NEWCGROUP) < 0)
		return unable("a cgroup namespace: %m");
	return outcome(mount("x", "m", "cgroup2", 0, NULL));
}

static int change_root(void)
{
	return outcome(chroot("."));
}

static int pivot(void)
{
	if (!inside && (dir("m") || mount("x", "m", "tmpfs", 0, NULL) < 0 || chdir("m") < 0))
		return unable("a place to go: %m");
	return outcome(syscall(SYS_pivot_root, ".", "."));
}

static int open_fs(void)
{
	return outcome(syscall(SYS_fsopen, "tmpfs", 0));
}

static int pick_fs(void)
{
	return dir("m")
		       ? UNABLE
		       : outcome(!inside && mount("x", "m", "tmpfs", 0, NULL) < 0
					 ? -1
					 : syscall(SYS_fspick, AT_FDCWD, inside ? "/tmp" : "m", 0));
}

static int clone_tree(void)
{
	return outcome(syscall(SYS_open_tree, AT_FDCWD, "/usr", OPEN_TREE_CLONE));
}

static int move(void)
{
	if (dir("m") || (!inside && mount("x", "m", "tmpfs", 0, NULL) < 0) || dir("m2"))
		return unable("a mount to move: %m");
	return outcome(syscall(SYS_move_mount, AT_FDCWD, inside ? "/tmp" : "m", AT_FDCWD, "m2", 0));
}

static int set_attributes(void)
{
	struct mount_attr attr = { .attr_clr = MOUNT_ATTR_NOSUID };

	if (!inside && (dir("m") || mount("x", "m", "tmpfs", MS_NOSUID, NULL) < 0))
		return unable("a mount: %m");
	return outcome(syscall(SYS_mount_setattr, AT_FDCWD, inside ? "/workspace" : "m", 0, &attr,
			       sizeof(attr)));
}

const struct attempt mount_attempts[] = {
	{ "mount-tmpfs", new_tmpfs, USERNS, IN_ALL },
	{ "mount-bind", bind_usr, USERNS, IN_ALL },
	{ "mount-remount-writable", remount_shown, USERNS, IN_ALL },
	{ "mount-uncover-config", unmount_cover, USERNS, IN_ALL },
	{ "mount-uncover-proc", unmount_mask, USERNS, IN_ALL },
	{ "mount-overlay", overlay, USERNS, IN_ALL },
	{ "mount-proc", new_proc, USERNS, IN_ALL },
	{ "mount-sysfs", new_sysfs, USERNS, IN_ALL },
	{ "mount-cgroup", new_cgroup, USERNS, IN_ALL },
	{ "mount-chroot", change_root, USERNS, IN_ALL },
	{ "mount-pivot-root", pivot, USERNS, IN_ALL },
	{ "mount-fsopen", open_fs, USERNS, IN_ALL },
	{ "mount-fspick", pick_fs, USERNS, IN_ALL },
	{ "mount-open-tree", clone_tree, USERNS, IN_ALL },
	{ "mount-move", move, USERNS, IN_ALL },
	{ "mount-setattr", set_attributes, USERNS, IN_ALL },
	{ 0 },
};
