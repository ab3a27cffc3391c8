/* SPDX-License-Identifier: MIT */
/* Where another program mounts. */
#include "engine/point.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "os/fs.h"

const struct op *point_around(const struct plan *plan, const struct op *op,
			      bool (*is_mount)(const struct plan *plan, const struct op *op))
{
	const struct op *around = NULL;

	for (size_t i = 0; i < plan->n_ops; i++) {
		const struct op *other = &plan->ops[i];

		if (is_mount(plan, other) && strcmp(op->dest, other->dest) &&
		    path_is_below(op->dest, other->dest) &&
		    (!around || strlen(other->dest) > strlen(around->dest)))
			around = other;
	}
	return around;
}

/* One name of a path in a directory of ours, which a sandbox has written to: no link is followed. */
static int make_name(int at, const char *name, bool dir)
{
	int fd;

	if (dir && mkdirat(at, name, 0755) < 0 && errno != EEXIST)
		return -errno;
	fd = dir ? openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
		 : openat(at, name, O_RDONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	return fd < 0 ? -errno : fd;
}

static int make_point(struct arena *arena, const char *top, const char *below, bool dir)
{
	_cleanup_close_ int at = open(top, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (at < 0)
		return -errno;
	while (*below) {
		size_t len = strcspn(below, "/");
		char *name = arena_printf(arena, "%.*s", (int)len, below);
		int fd = make_name(at, name, below[len] || dir);

		below += len + (below[len] == '/');
		if (fd == -EEXIST) /* of a file; what it is the mount will tell */
			return 0;
		if (fd < 0)
			return fd;
		close(at);
		at = fd;
	}
	return 0;
}

int point_check(struct arena *arena, const struct op *op, const struct op *around, struct err *err)
{
	char *path = path_join(arena, around->src, path_below(op->dest, around->dest));

	if (around->flags & OPF_MAKE) {
		int r = make_point(arena, around->src, path_below(op->dest, around->dest),
				   op->flags & OPF_DIR);

		return r < 0 ? err_errno(err, -r, "making '%s', to mount on", path) : 0;
	}
	if (access(path, F_OK) == 0)
		return 0;
	err_set(err, ENOENT, "mounting on '%s': there is no '%s'", op->dest, path);
	return err_hint(err, "make it, or mount somewhere else");
}
