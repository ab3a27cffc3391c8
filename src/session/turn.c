/* SPDX-License-Identifier: MIT */
/* Taking turns; see turn.h. */
#include "session/turn.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>

#include "base/path.h"
#include "os/fs.h"
#include "os/timer.h"

enum { WAIT_MS = 20000 };

char *turn_path(struct arena *arena, const char *state)
{
	return path_join(arena, state, "turn");
}

static int try_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : fd;
}

static int make_parent(const char *path)
{
	struct arena arena = { 0 };
	struct err err;
	int r = os_mkdirs(path_parent(&arena, path), 0700, &err);

	arena_release(&arena);
	return r;
}

int turn_open(const char *path, int *ret_fd)
{
	int r = try_open(path);

	if (r == -ENOENT) {
		r = make_parent(path);
		r = r < 0 ? r : try_open(path);
	}
	if (r < 0)
		return r == -ENOENT || r == -ENOTDIR || r == -EACCES || r == -EROFS ? 0 : r;
	*ret_fd = r;
	return 1;
}

int turn_await(int fd, unsigned step_us)
{
	const struct timespec step = { .tv_nsec = step_us * 1000L };
	int64_t end = 0;

	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		end = end ? end : os_now_ms() + WAIT_MS;
		if (os_now_ms() > end)
			return -EAGAIN;
		nanosleep(&step, NULL);
	}
	return 0;
}
