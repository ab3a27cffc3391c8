/* SPDX-License-Identifier: MIT */
/*
 * Building the root, in the sandbox's own namespaces and with capabilities over those only.
 *
 * Order: a fresh tmpfs is attached on top of '/' (paths of the host still resolve below it), the
 * plan's operations fill it, it is made read-only and becomes the root; the host's file systems
 * are detached. Names are created in our own two file systems only; where a mount point is missing
 * in a tree of the user's, the start fails rather than leave a file there. 'wrapix exec' has the
 * host's whole tree for a root: the namespace's own copy of it, made read-only in its place.
 *
 * What an attacker controls: the content of the workspace while we build, so links in a
 * destination are never followed, and each source of the user's is compared with what the
 * supervisor saw.
 */
#include "engine/native/root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/fs.h"
#include "os/linux/mount.h"

static int new_tmpfs(uint64_t size, dev_t *ret_dev)
{
	char bytes[32];
	const struct fs_option options[] = { { "mode", "0755" },
					     { "size", bytes },
					     { "nr_inodes", "1000000" } };
	struct stat st;
	int fd;

	snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)size);
	fd = mount_new("tmpfs", options, ARRAY_LEN(options), 0);
	if (fd >= 0 && fstat(fd, &st) == 0)
		*ret_dev = st.st_dev;
	return fd;
}

/* A mount must be attached to be cloned from: the scratch file system lies under the root, on the
 * host's, and is detached with that. Its directories live on in their clones. */
static int begin_own(struct root *root, const struct plan *plan)
{
	int r;

	root->fd = new_tmpfs(plan->root_size, &root->dev);
	if (root->fd < 0)
		return root->fd;
	r = mount_attach(root->scratch, AT_FDCWD, "/");
	return r == 0 ? mount_attach(root->fd, AT_FDCWD, "/") : r;
}

/* The namespace has a copy of all mounts of the host's, and nobody else is in it: that is the root,
 * and the scratch file system lies where the host's /dev is covered anyway. Whoever may make a user
 * namespace has the uppermost mount for a root, so none is reached by '/..'. */
static int begin_host(struct root *root, const struct plan *plan)
{
	int r;

	root->fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root->fd < 0)
		return -errno;
	r = mount_is_uncovered(root->fd)
		    ? mount_set_flags(root->fd, root_mount_flags(&plan->ops[0]))
		    : -EBUSY;
	return r == 0 ? mount_attach(root->scratch, root->fd, "dev") : r;
}

/* What ours would lie over is cloned before it does. */
static void clone_early(struct root *root, const struct plan *plan)
{
	for (size_t i = 0; i < plan->n_ops; i++) {
		const struct op *op = &plan->ops[i];

		if (op->kind == OP_BIND && (plan_root_of_host(plan) || !strcmp(op->src, "/")))
			root->early[i] = root_clone_source(root, op);
	}
}

static int begin(struct root *root, const struct plan *plan, struct err *err)
{
	int r;

	root->early = calloc(plan->n_ops, sizeof(*root->early));
	if (!root->early)
		return err_errno(err, ENOMEM, "making the root");
	clone_early(root, plan);
	root->scratch = new_tmpfs(plan->scratch_size, &root->scratch_dev);
	if (root->scratch < 0)
		return err_errno(err, -root->scratch, "mounting a tmpfs");
	r = plan_root_of_host(plan) ? begin_host(root, plan) : begin_own(root, plan);
	return r < 0 ? err_errno(err, -r, "making the root") : 0;
}

/* What of ours was filled while the root was built is closed. */
static int seal(struct root *root, const struct plan *plan, struct err *err)
{
	for (size_t i = 0; i < plan->n_ops; i++) {
		const struct op *op = &plan->ops[i];
		_cleanup_close_ int fd = -1;
		int r;

		if (op->kind != OP_SCRATCH || !(op->flags & OPF_RO))
			continue;
		fd = os_openat2(root->fd, op->dest + 1, O_PATH | O_DIRECTORY, 0,
				RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
		r = fd < 0 ? fd : mount_make_readonly(fd);
		if (r < 0)
			return err_errno(err, -r, "making '%s' read-only", op->dest);
	}
	return 0;
}

static int finish(struct root *root, const struct plan *plan, struct err *err)
{
	int r = seal(root, plan, err);

	if (r < 0)
		return r;
	if (plan_root_of_host(plan))
		return chdir("/") < 0 ? err_errno(err, errno, "entering '/'") : 0;
	r = mount_make_readonly(root->fd);
	if (r < 0)
		return err_errno(err, -r, "making the root read-only");
	return mount_pivot(root->fd, err);
}

int root_build(const struct child *child, struct err *err)
{
	struct root root = { .child = child, .fd = -1, .scratch = -1, .parent = -1 };
	const struct plan *plan = child->plan;
	mode_t user_mask = umask(0);
	int r = begin(&root, plan, err);

	for (size_t i = plan_root_of_host(plan); r == 0 && i < plan->n_ops; i++)
		r = root_do(&root, &plan->ops[i], err);
	if (r == 0)
		r = finish(&root, plan, err);
	umask(user_mask);
	if (root.parent >= 0)
		close(root.parent);
	close(root.fd);
	close(root.scratch);
	free(root.early);
	return r;
}
