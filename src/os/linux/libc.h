/* SPDX-License-Identifier: MIT */
/*
 * Calls of the kernel that the tree uses by name and some C libraries have no function for: musl 1.2.3, and the mounts by
 * descriptor GNU's before 2.36. The build says which are lacking (LACKS_...) and puts this before every file then (-include).
 */
#pragma once

#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef LACKS_RENAMEAT2
#include <linux/fs.h>
static inline int renameat2(int from_dir, const char *from, int to_dir, const char *to,
			    unsigned flags)
{
	return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, flags);
}
#endif

#ifdef LACKS_STATX
#include <linux/stat.h>
static inline int statx(int dir, const char *path, int flags, unsigned mask, struct statx *ret)
{
	return (int)syscall(SYS_statx, dir, path, flags, mask, ret);
}
#endif

#ifdef LACKS_OPEN_TREE
#include <linux/mount.h>
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif
static inline int open_tree(int dir, const char *path, unsigned flags)
{
	return (int)syscall(SYS_open_tree, dir, path, flags);
}

static inline int move_mount(int from_dir, const char *from, int to_dir, const char *to,
			     unsigned flags)
{
	return (int)syscall(SYS_move_mount, from_dir, from, to_dir, to, flags);
}

static inline int fsopen(const char *type, unsigned flags)
{
	return (int)syscall(SYS_fsopen, type, flags);
}

static inline int fsconfig(int fs, unsigned cmd, const char *key, const void *value, int aux)
{
	return (int)syscall(SYS_fsconfig, fs, cmd, key, value, aux);
}

static inline int fsmount(int fs, unsigned flags, unsigned attributes)
{
	return (int)syscall(SYS_fsmount, fs, flags, attributes);
}

static inline int mount_setattr(int dir, const char *path, unsigned flags, struct mount_attr *attr,
				size_t size)
{
	return (int)syscall(SYS_mount_setattr, dir, path, flags, attr, size);
}
#endif
