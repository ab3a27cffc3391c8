/* SPDX-License-Identifier: MIT */
/*
 * The plan as this machine is at the moment of the start, in what podman cannot find out by itself: sources
 * that need not be there and are not, and mounts below a read-only one, which podman brings along
 * writable. Each of them becomes a read-only mount of its own.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "engine/podman/container.h"
#include "os/fs.h"
#include "os/linux/mountinfo.h"

char *mount_points(void)
{
	char *text = NULL, *at, *to;
	struct mountinfo mount;

	if (os_read_file_at(AT_FDCWD, "/proc/self/mountinfo", 1 << 24, &text, NULL) < 0)
		return NULL;
	at = to = text;
	while (mountinfo_next(&at, &mount)) {
		size_t size = strlen(mount.point) + 1;

		memmove(to, mount.point, size); /* over what was read */
		to += size;
	}
	*to = '\0';
	return text;
}

static void add_below(struct container *c, struct plan *plan, const struct op *op,
		      const char *points)
{
	for (const char *p = points; p && *p; p += strlen(p) + 1) {
		struct op *copy;

		/* What the user cannot get at, the sandbox cannot either. */
		if (!strcmp(p, op->src) || !path_is_below(p, op->src) || access(p, F_OK) < 0)
			continue;
		copy = arena_grow(&c->arena, &plan->ops, &plan->n_ops, sizeof(*copy));
		*copy = *op;
		copy->src = arena_strdup(&c->arena, p);
		copy->dest = path_join(&c->arena, op->dest, path_below(p, op->src));
	}
}

void plan_present(struct container *c, const struct plan *plan, struct plan *ret)
{
	_cleanup_free_ char *points = mount_points();

	*ret = *plan;
	ret->ops = NULL;
	ret->n_ops = 0;
	for (size_t i = 0; i < plan->n_ops; i++) {
		const struct op *op = &plan->ops[i];
		const char *src = op->src;
		struct op *copy;

		if (op->kind == OP_BIND && (op->flags & OPF_SESSION))
			src = op_session_source(&c->arena, op, c->id);
		if (op->kind == OP_BIND && (op->flags & OPF_OPTIONAL) && access(src, F_OK) < 0)
			continue;
		copy = arena_grow(&c->arena, &ret->ops, &ret->n_ops, sizeof(*copy));
		*copy = *op;
		if (op->kind == OP_COW && c->layers)
			copy->layer = path_join(&c->arena, c->layers, op->layer);
		if (op->kind == OP_BIND && (op->flags & OPF_RO))
			add_below(c, ret, op, points);
	}
}
