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

#include "os/linux/mount.h"
#include "os/proc.h"

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
	if (root->fd < 0 || chdir("/") < 0)
		return -errno;
	r = mount_is_uncovered(root->fd)
		    ? mount_set_flags(root->fd, root_mount_flags(&plan->ops[0]))
		    : -EBUSY;
	return r == 0 ? mount_attach(root->scratch, root->fd, "dev") : r;
}

static bool is_early(const struct root *root, const struct op *op)
{
	return op->kind == OP_BIND && (root->host || !strcmp(op->src, "/"));
}

/* What ours would lie over is cloned before it does. */
static int clone_early(struct root *root, const struct plan *plan, struct err *err)
{
	size_t n = 0;

	root->early = calloc(plan->n_ops + 1, sizeof(*root->early));
	if (!root->early)
		return err_errno(err, ENOMEM, "making the root");
	for (size_t i = 0; i < plan->n_ops; i++)
		n += is_early(root, &plan->ops[i]);
	if (os_need_descriptors(n) < 0)
		return err_errno(err, EMFILE, "opening the %zu places that are mounted", n);
	for (size_t i = 0; i < plan->n_ops; i++)
		if (is_early(root, &plan->ops[i]))
			root->early[i] = root_clone_source(root, &plan->ops[i]);
	return 0;
}

static int begin(struct root *root, const struct plan *plan, struct err *err)
{
	int r;

	root->scratch = new_tmpfs(plan->scratch_size, &root->scratch_dev);
	if (root->scratch < 0)
		return err_errno(err, -root->scratch, "mounting a tmpfs");
	r = root->host ? begin_host(root, plan) : begin_own(root, plan);
	return r < 0 ? err_errno(err, -r, "making the root") : 0;
}

/* All operations of a plan, or of what is left of one. */
static int fill(struct root *root, const struct plan *plan, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->n_ops; i++)
		r = plan->ops[i].kind == OP_ROOT ? 0 : root_do(root, &plan->ops[i], err);
	free(TAKE_PTR(root->early));
	return r == 0 ? root_close_ways(root, err) : r;
}

int root_begin(struct root *root, struct child *child, struct err *err)
{
	const struct plan *plan = child->plan;
	int r;

	*root = (struct root){ .child = child, .fd = -1, .scratch = -1, .parent = -1, .gate = -1 };
	root->host = plan->n_ops && plan->ops[0].kind == OP_ROOT;
	child->mask = umask(0);
	r = clone_early(root, plan, err);
	if (r == 0)
		r = begin(root, plan, err);
	return r == 0 ? fill(root, plan, err) : r;
}

static int enter(const struct root *root, struct err *err)
{
	int r;

	if (root->host)
		return 0;
	r = mount_make_readonly(root->fd);
	if (r < 0)
		return err_errno(err, -r, "making the root read-only");
	return mount_pivot(root->fd, err);
}

int root_complete(struct root *root, struct err *err)
{
	const struct child *child = root->child;
	int r = child->order ? clone_early(root, child->plan, err) : 0;

	if (r == 0 && child->order)
		r = fill(root, child->plan, err);
	if (r == 0)
		root_carry(root);
	if (r == 0)
		r = enter(root, err);
	umask(child->mask);
	os_restore_descriptors();
	if (root->parent >= 0)
		close(root->parent);
	close(root->fd);
	close(root->scratch);
	return r;
}
