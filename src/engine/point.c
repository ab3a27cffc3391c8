/* SPDX-License-Identifier: MIT */
/* Where another program mounts. */
#include "engine/point.h"

#include <errno.h>
#include <string.h>
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

int point_check(struct arena *arena, const struct op *op, const struct op *around, struct err *err)
{
	char *path = path_join(arena, around->src, path_below(op->dest, around->dest));

	if (around->flags & OPF_MAKE)
		return op->flags & OPF_DIR ? os_mkdirs(path, 0755, err) : 0;
	if (access(path, F_OK) == 0)
		return 0;
	err_set(err, ENOENT, "mounting on '%s': there is no '%s'", op->dest, path);
	return err_hint(err, "make it, or mount somewhere else");
}
