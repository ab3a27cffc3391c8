/* SPDX-License-Identifier: MIT */
/*
 * Stands before the header of this name in a build for macOS: what it has of that, by the same names. Copies are by
 * bytes, overlayfs leaves no marks, and a file system is either local or not.
 */
#pragma once

#include <sys/ioctl.h>
#include <sys/types.h>
#include <sys/xattr.h>

#define fgetxattr(fd, name, value, size) fgetxattr(fd, name, value, size, 0, 0)
#define fsetxattr(fd, name, value, size, flags) fsetxattr(fd, name, value, size, 0, flags)
#define fremovexattr(fd, name) fremovexattr(fd, name, 0)
#define lgetxattr(path, name, value, size) getxattr(path, name, value, size, 0, XATTR_NOFOLLOW)
#define lsetxattr(path, name, value, size, flags) \
	setxattr(path, name, value, size, 0, (flags) | XATTR_NOFOLLOW)
#define flistxattr(fd, names, size) flistxattr(fd, names, size, 0)

#define FICLONE _IOW(0x94, 9, int) /* nobody answers */
ssize_t darwin_copy_file_range(int from, off_t *from_at, int to, off_t *to_at, size_t len,
			       unsigned flags);
#define copy_file_range darwin_copy_file_range

/* Only overlayfs's mark for what is removed is ever asked for. */
int darwin_mknodat(int dir, const char *name, mode_t mode, dev_t device);
#define mknodat darwin_mknodat

struct file_handle {
	unsigned handle_bytes;
	int handle_type;
	unsigned char f_handle[];
};
int name_to_handle_at(int dir, const char *name, struct file_handle *ret, int *ret_mount,
		      int flags);

/* f_type: NFS's number for whatever is not local, else 0. */
struct darwin_statfs {
	unsigned long f_type;
};
int darwin_statfs(const char *path, struct darwin_statfs *ret);
#define statfs darwin_statfs
