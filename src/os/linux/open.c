/* SPDX-License-Identifier: MIT */
/* Opening by rules of resolution, by openat2(2). */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/fs.h"

#define RESOLVE_TRIES 256

int os_openat2(int dir_fd, const char *path, int flags, mode_t mode, uint64_t resolve)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned)flags | O_CLOEXEC,
		.mode = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? mode : 0,
		.resolve = resolve,
	};
	long fd = -1;

	/* EAGAIN: something was renamed or mounted on the way, which the kernel notices where ".." is
	 * bounded. It may also mean that a lease has to be broken first, and then it stays. */
	for (int i = 0; i < RESOLVE_TRIES; i++) {
		fd = syscall(SYS_openat2, dir_fd, path, &how, sizeof(how));
		if (fd >= 0 || (errno != EINTR && errno != EAGAIN))
			break;
		i -= errno == EINTR;
	}
	return fd < 0 ? -errno : (int)fd;
}

bool os_same_mount(int a, int b)
{
	const unsigned want = STATX_INO | STATX_MNT_ID;
	struct statx x, y;

	if (statx(a, "", AT_EMPTY_PATH, want, &x) < 0 || statx(b, "", AT_EMPTY_PATH, want, &y) < 0)
		return true; /* and a rename says EXDEV */
	return x.stx_dev_major == y.stx_dev_major && x.stx_dev_minor == y.stx_dev_minor &&
	       x.stx_mnt_id == y.stx_mnt_id;
}
