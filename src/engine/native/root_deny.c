/* SPDX-License-Identifier: MIT */
/*
 * What may not be read: covers over files and directories.
 *
 * A directory in which something else may be read must be searchable, and a tmpfs would say of all other
 * names that they are not there. So the cover is an overlay of two directories of ours: the upper of the two has the
 * names that lead on; the lower is one that its mounter may not search, so that the kernel, which asks
 * there for every other name, says EACCES, to whatever call. Who mounts gives up its power over files for that
 * moment, because an overlay keeps the rights of its mounter; root of a namespace inside is denied as well. The lower
 * directory is closed when everything stands: until then what leads on is looked up, and a name that something is
 * mounted on is never looked up again.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "engine/native/root.h"
#include "os/linux/caps.h"
#include "os/linux/mount.h"
#include "os/linux/overlay.h"

/*
 * A directory that root of a namespace inside cannot read either, which has power over all that is of the
 * sandbox's own: the host's root has it, for itself alone, on every kernel with terminals, and it is of no
 * interest. -1: there is none like that.
 */
static int clone_roots_own(void)
{
	static const char name[] = "/proc/tty/driver";
	struct stat st;

	if (stat(name, &st) < 0 || (st.st_mode & 077) || st.st_uid == geteuid())
		return -1;
	return mount_clone(AT_FDCWD, name, MOUNT_RO | MOUNT_NOEXEC);
}

int root_deny(struct root *root, const struct op *op, struct err *err)
{
	bool dir = op->flags & OPF_DIR;
	const char *name = dir ? "denied.d" : "denied";
	int fd = dir && root->child->plan->nested ? clone_roots_own() : -1, r;

	if (fd >= 0)
		return root_cover_by(root, op, fd, err);
	r = dir ? mkdirat(root->scratch, name, 0) : mknodat(root->scratch, name, S_IFREG, 0);

	if (r < 0 && errno != EEXIST)
		return err_errno(err, errno, "covering '%s'", op->dest);
	return root_cover(root, op, name, err);
}

/* The directory that no name is found in, once it is closed. */
static const char nowhere[] = "nowhere.d";

/* The names in the directory that what follows in the plan is mounted on. The mounter must be able to read them: there
 * the kernel looks for an overlay's marks. */
static int make_names(const struct root *root, const struct op *op, int dir)
{
	const struct plan *plan = root->child->plan;

	for (const struct op *next = op + 1; next < plan->ops + plan->n_ops; next++) {
		const char *name = path_below(next->dest, op->dest);
		int r;

		if (!name || !*name || strchr(name, '/'))
			continue;
		r = next->flags & OPF_DIR ? mkdirat(dir, name, 0400)
					  : mknodat(dir, name, S_IFREG | 0400, 0);
		if (r < 0 && errno != EEXIST)
			return -errno;
	}
	return 0;
}

/* Detached, or -errno. */
static int mount_pass(const struct root *root, int names)
{
	_cleanup_close_ int closed = -1;
	int fd;

	if (mkdirat(root->scratch, nowhere, 0700) < 0 &&
	    (errno != EEXIST || fchmodat(root->scratch, nowhere, 0700, 0) < 0))
		return -errno;
	closed = openat(root->scratch, nowhere, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (closed < 0)
		return -errno;
	if (!caps_raise_files(false))
		return -EPERM;
	fd = overlay_view(names, closed, MOUNT_NOEXEC);
	if (!caps_raise_files(true) && fd >= 0) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

int root_pass(struct root *root, const struct op *op, struct err *err)
{
	_cleanup_close_ int names = -1;
	char name[16];
	int fd, r = 0;

	snprintf(name, sizeof(name), "%d", root->n_scratch++);
	if (mkdirat(root->scratch, name, 0111) < 0) /* the umask is 0 */
		return err_errno(err, errno, "covering '%s'", op->dest);
	names = openat(root->scratch, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (names < 0 || (r = make_names(root, op, names)) < 0)
		return err_errno(err, names < 0 ? errno : -r, "covering '%s'", op->dest);
	fd = mount_pass(root, names);
	/* Without overlays (before Linux 5.11) other names are not there, which keeps them as well. */
	return fd < 0 ? root_cover(root, op, name, err) : root_cover_by(root, op, fd, err);
}

int root_close_ways(const struct root *root, struct err *err)
{
	if (fchmodat(root->scratch, nowhere, 0, 0) < 0 && errno != ENOENT)
		return err_errno(err, errno, "closing what may not be read");
	return 0;
}
