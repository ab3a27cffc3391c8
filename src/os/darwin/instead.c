/* SPDX-License-Identifier: MIT */
/* What instead/os/linux declares: the names of Linux's kernel that have an answer here. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mount.h>
#include <unistd.h>

/* Before 'statfs' means ours. */
static int is_local(const char *path)
{
	struct statfs fs;

	return statfs(path, &fs) < 0 ? -1 : (fs.f_flags & MNT_LOCAL) != 0;
}

#include "os/linux/files.h"
#include "os/linux/kernel.h"

enum { NFS = 0x6969 };

int darwin_statfs(const char *path, struct darwin_statfs *ret)
{
	int local = is_local(path);

	if (local < 0)
		return -1;
	ret->f_type = local ? 0 : NFS;
	return 0;
}

static int lacking(void)
{
	errno = ENOTSUP;
	return -1;
}

ssize_t darwin_copy_file_range(int from, off_t *from_at, int to, off_t *to_at, size_t len,
			       unsigned flags)
{
	(void)from, (void)from_at, (void)to, (void)to_at, (void)len, (void)flags;
	return lacking();
}

int darwin_mknodat(int dir, const char *name, mode_t mode, dev_t device)
{
	(void)dir, (void)name, (void)mode, (void)device;
	return lacking();
}

int name_to_handle_at(int dir, const char *name, struct file_handle *ret, int *ret_mount, int flags)
{
	(void)dir, (void)name, (void)ret, (void)ret_mount, (void)flags;
	return lacking();
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *ret)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	(void)pid, (void)size;
	if (n < 1)
		return lacking();
	ret->count = (int)n;
	return 0;
}
