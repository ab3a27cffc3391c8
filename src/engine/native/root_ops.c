/* SPDX-License-Identifier: MIT */
/* The operations that fill the root. Links in a destination are never followed; a source of the user's
 * must be what the supervisor saw. */
#include "engine/native/root.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/path.h"
#include "os/fs.h"
#include "os/linux/mount.h"
#include "os/linux/overlay.h"

unsigned root_mount_flags(const struct op *op)
{
	return (op->flags & OPF_RO ? MOUNT_RO : 0) | (op->flags & OPF_DEV ? MOUNT_DEV : 0) |
	       (op->flags & OPF_RECURSIVE ? MOUNT_RECURSIVE : 0);
}

static int open_parent(struct root *root, const char *path, struct err *err);

static bool is_image(const struct root *root, dev_t dev)
{
	for (size_t i = 0; i < root->n_images; i++)
		if (root->image_dev[i] == dev)
			return true;
	return false;
}

/* Opens the directory path (relative to the root), making what is missing of it. */
static int enter(struct root *root, const char *path, struct err *err)
{
	char buf[PATH_MAX];
	struct stat st;
	int fd, r;

	fd = os_openat2(root->fd, *path ? path : ".", O_PATH | O_DIRECTORY, 0,
			RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
	if (fd == -ENOENT) {
		snprintf(buf, sizeof(buf), "%s", path);
		r = open_parent(root, buf, err);
		if (r < 0)
			return r;
		if (!root->parent_own)
			return err_set(
				err, ENOENT,
				"'/%s' does not exist, and wrapix creates nothing in your files",
				path);
		if (mkdirat(root->parent, path_name(buf), 0755) < 0)
			return err_errno(err, errno, "creating '/%s'", path);
		fd = os_openat2(root->fd, path, O_PATH | O_DIRECTORY, 0,
				RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
	}
	if (fd == -ELOOP)
		return err_set(err, ELOOP, "'/%s' leads through a symbolic link", path);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(err, fd < 0 ? -fd : errno, "opening '/%s'", path);
	if (root->parent >= 0)
		close(root->parent);
	root->parent = fd;
	root->parent_image = is_image(root, st.st_dev);
	root->parent_own = root->parent_image || st.st_dev == root->dev ||
			   st.st_dev == root->scratch_dev ||
			   (root->kept && path_is_below(path, root->kept + 1));
	snprintf(root->parent_path, sizeof(root->parent_path), "%s", path);
	return 0;
}

/* Makes root->parent the directory that path (relative, clean) lies in. */
static int open_parent(struct root *root, const char *path, struct err *err)
{
	char dir[PATH_MAX] = "";
	const char *slash = strrchr(path, '/');

	if (slash)
		snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
	if (root->parent >= 0 && !strcmp(dir, root->parent_path))
		return 0;
	return enter(root, dir, err);
}

/* Goes to where dest lies; returns its last name. */
static const char *go_to(struct root *root, const struct op *op, struct err *err)
{
	if (open_parent(root, op->dest + 1, err) < 0)
		return NULL;
	return strrchr(op->dest, '/') + 1;
}

/* Makes the name to mount on, where that is ours to make. */
static int make_mount_point(struct root *root, const struct op *op, const char *name,
			    struct err *err)
{
	struct stat st;
	int r;

	if (!root->parent_own) {
		if (fstatat(root->parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			return 0;
		err_errno(err, errno, "mounting on '%s'", op->dest);
		return err_hint(
			err, "wrapix creates nothing in your files; %s",
			path_is_below(op->dest, WORKSPACE_INSIDE)
				? "create it, or choose a destination outside " WORKSPACE_INSIDE
				: "choose a destination of its own, as in SRC:/mnt/NAME");
	}
	r = op->flags & OPF_DIR ? mkdirat(root->parent, name, 0755)
				: mknodat(root->parent, name, S_IFREG | 0444, 0);
	if (r < 0 && errno != EEXIST)
		return err_errno(err, errno, "creating '%s'", op->dest);
	return 0;
}

/* Puts a detached mount in its place, and takes it over. */
static int root_attach(struct root *root, const struct op *op, int mount_fd, struct err *err)
{
	const char *name = go_to(root, op, err);
	int r;

	if (!name || make_mount_point(root, op, name, err) < 0) {
		close(mount_fd);
		return -err->code;
	}
	r = mount_attach(mount_fd, root->parent, name);
	close(mount_fd);
	return r < 0 ? err_errno(err, -r, "mounting '%s' on '%s'", op->src ? op->src : "", op->dest)
		     : 0;
}

static int do_dir(struct root *root, const struct op *op, struct err *err)
{
	const char *name = go_to(root, op, err);

	if (!name)
		return -err->code;
	if (mkdirat(root->parent, name, op->mode) < 0 && errno != EEXIST)
		return err_errno(err, errno, "creating '%s'", op->dest);
	return 0;
}

static int write_file(int dir, const char *name, const struct op *op, struct err *err)
{
	_cleanup_close_ int fd = openat(
		dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, op->mode);

	if (fd < 0 && errno == EEXIST && (op->flags & OPF_OPTIONAL))
		return 0;
	if (fd < 0 || os_write_all(fd, op->src, strlen(op->src)) < 0)
		return err_errno(err, errno, "writing '%s'", op->dest);
	return 0;
}

static int do_file(struct root *root, const struct op *op, struct err *err)
{
	const char *name = go_to(root, op, err);

	if (name && root->parent_image)
		unlinkat(root->parent, name, 0); /* what the image has there is another machine's */
	return name ? write_file(root->parent, name, op, err) : -err->code;
}

static int do_link(struct root *root, const struct op *op, struct err *err)
{
	const char *name = go_to(root, op, err);

	if (!name)
		return -err->code;
	if (symlinkat(op->src, root->parent, name) < 0 && !(errno == EEXIST && root->parent_image))
		return err_errno(err, errno, "linking '%s'", op->dest);
	return 0;
}

/* The source as the supervisor saw it, or nothing; returns a descriptor or -errno. */
static int open_checked(struct root *root, const struct op *op)
{
	const struct source_id *id = &root->child->sources[op - root->child->plan->ops];
	_cleanup_close_ int fd = os_openat2(AT_FDCWD, op->src, O_PATH, 0, RESOLVE_NO_SYMLINKS);
	struct stat st;

	if (fd < 0)
		return fd == -ELOOP ? -ESTALE : fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_ino != id->ino || st.st_dev != id->dev)
		return -ESTALE;
	return take_fd(&fd);
}

/* What is held is first the supervisor's. */
static unsigned source_flags(const struct op *op)
{
	return root_mount_flags(op) & ~(unsigned)(op->flags & OPF_HELD ? MOUNT_RO : 0);
}

static int clone_checked(struct root *root, const struct op *op)
{
	_cleanup_close_ int fd = open_checked(root, op);

	return fd < 0 ? fd : mount_clone(fd, "", source_flags(op));
}

/* A directory of ours that has one for each session. */
static int clone_session(const struct root *root, const struct op *op)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s/%s", op->src, root->child->id,
		     op->layer ? op->layer : "") >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return mount_clone(AT_FDCWD, path, root_mount_flags(op));
}

static int clone_plain(const struct op *op)
{
	_cleanup_close_ int fd = os_openat2(AT_FDCWD, op->src, O_PATH, 0, RESOLVE_NO_SYMLINKS);

	return fd < 0 ? fd : mount_clone(fd, "", root_mount_flags(op));
}

int root_clone_source(struct root *root, const struct op *op)
{
	return op->flags & OPF_CHECK     ? clone_checked(root, op)
	       : op->flags & OPF_PLAIN   ? clone_plain(op)
	       : op->flags & OPF_SESSION ? clone_session(root, op)
					 : mount_clone(AT_FDCWD, op->src, root_mount_flags(op));
}

/*
 * The supervisor gets what was just mounted, and nothing inside leads to it: the gate's directory is covered
 * by what comes next, and a tree that is held by itself, read-only. A file of it that the supervisor
 * opens for the command has the name that the command knows.
 */
static int hand_over(struct root *root, const struct op *op, struct err *err)
{
	_cleanup_close_ int at = os_openat2(root->fd, op->dest + 1, O_PATH | O_DIRECTORY, 0,
					    RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
	bool gate = op->flags & OPF_GATE;
	int fd;

	if (at < 0)
		return err_errno(err, -at, "opening '%s'", op->dest);
	if (child_send(root->child, gate ? CONTROL_GATE : CONTROL_TREE,
		       (int)(op - root->child->plan->ops), at, err) < 0)
		return -err->code;
	if (gate) {
		root->gate = take_fd(&at);
		return 0;
	}
	fd = mount_clone(at, "", root_mount_flags(op));
	return fd < 0 ? err_errno(err, -fd, "making '%s' read-only", op->dest)
		      : root_attach(root, op, fd, err);
}

static int do_bind(struct root *root, const struct op *op, struct err *err)
{
	int early = root->early[op - root->child->plan->ops];
	int fd = early ? early : root_clone_source(root, op);

	if ((op->flags & OPF_OPTIONAL) && (fd == -ENOENT || fd == -ENOTDIR || fd == -EACCES))
		return 0;
	if (fd == -ESTALE)
		return err_set(err, ESTALE, "'%s' was replaced while the sandbox started", op->src);
	if (fd < 0)
		return err_errno(err, -fd, "mounting '%s' on '%s'", op->src, op->dest);
	if (op->flags & OPF_MAKE)
		root->kept = op->dest;
	if (root_attach(root, op, fd, err) < 0)
		return -err->code;
	return op->flags & (OPF_GATE | OPF_HELD) ? hand_over(root, op, err) : 0;
}

/* The session's layer over the source, or the whole copy that it is. Returns a detached mount. The
 * kernel takes only directories that were opened in this mount namespace. */
static int mount_layer(struct root *root, const struct op *op, int lower)
{
	const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	_cleanup_close_ int session = open(root->child->layers ? root->child->layers : "", flags);
	_cleanup_close_ int layer = openat(session, op->layer, flags);
	_cleanup_close_ int upper = openat(layer, op->flags & OPF_COPY ? "copy" : "upper", flags);
	_cleanup_close_ int work = -1;

	if (upper < 0)
		return -errno;
	if (op->flags & OPF_COPY)
		return mount_clone(upper, "", 0);
	work = openat(layer, "work", flags);
	return work < 0 ? -errno : overlay_mount(lower, upper, work, false);
}

static int do_cow(struct root *root, const struct op *op, struct err *err)
{
	_cleanup_close_ int lower = open_checked(root, op);
	int fd = lower < 0 ? lower : mount_layer(root, op, lower);

	if (fd == -ESTALE)
		return err_set(err, ESTALE, "'%s' was replaced while the sandbox started", op->src);
	if (fd < 0)
		err_errno(err, -fd, "mounting a view of '%s' on '%s'", op->src, op->dest);
	if (fd == -EINVAL)
		return err_hint(err,
				"another file system is mounted below it, or its own cannot be "
				"viewed this way: --workspace direct works");
	return fd < 0 ? fd : root_attach(root, op, fd, err);
}

/* The upper layer is a directory of the scratch file system, which is never synced and goes with us; or,
 * where that cannot hold an overlay's marks, one on the disk that the supervisor removes. */
static int mount_image(struct root *root, int lower)
{
	const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	const char *changes = root->child->image_changes;
	_cleanup_close_ int disk = changes ? open(changes, flags) : -1, upper = -1, work = -1;
	int base = changes ? disk : root->scratch;
	char names[2][16];

	for (size_t i = 0; i < 2; i++) {
		snprintf(names[i], sizeof(names[i]), "%d", root->n_scratch++);
		if (mkdirat(base, names[i], 0755) < 0)
			return -errno;
	}
	upper = openat(base, names[0], flags);
	work = openat(base, names[1], flags);
	return upper < 0 || work < 0 ? -errno : overlay_mount(lower, upper, work, true);
}

static int do_image(struct root *root, const struct op *op, struct err *err)
{
	_cleanup_close_ int lower = os_openat2(AT_FDCWD, op->src, O_PATH | O_DIRECTORY, 0,
					       RESOLVE_NO_SYMLINKS);
	int fd = lower < 0 ? lower : mount_image(root, lower);
	struct stat st;

	if (fd < 0) {
		err_errno(err, -fd, "mounting '%s' of the image on '%s'", op->src, op->dest);
		return fd == -ENODEV ? err_hint(err, "the kernel needs overlayfs: modprobe overlay")
				     : fd;
	}
	if (root->n_images < ARRAY_LEN(root->image_dev) && fstat(fd, &st) == 0)
		root->image_dev[root->n_images++] = st.st_dev;
	return root_attach(root, op, fd, err);
}

/* A directory of the scratch file system, cloned into its place. */
static int do_scratch(struct root *root, const struct op *op, struct err *err)
{
	struct op dir = *op;
	char name[16];
	int fd;

	snprintf(name, sizeof(name), "%d", root->n_scratch++);
	if (mkdirat(root->scratch, name, op->mode) < 0) /* the umask is 0 */
		return err_errno(err, errno, "creating '%s'", op->dest);
	fd = mount_clone(root->scratch, name, 0);
	if (fd < 0)
		return err_errno(err, -fd, "mounting '%s'", op->dest);
	dir.flags |= OPF_DIR;
	return root_attach(root, &dir, fd, err);
}

static int attach_new(struct root *root, const struct op *op, const char *type,
		      const struct fs_option *options, size_t n, unsigned flags, struct err *err)
{
	struct op dir = *op;
	int fd = mount_new(type, options, n, flags);

	if (fd < 0)
		return err_errno(err, -fd, "mounting %s on '%s'", type, op->dest);
	dir.flags |= OPF_DIR;
	return root_attach(root, &dir, fd, err);
}

static int do_proc(struct root *root, const struct op *op, struct err *err)
{
	int r = attach_new(root, op, "proc", NULL, 0, MOUNT_NOEXEC, err);

	if (r == -EPERM)
		err_hint(err,
			 "this host's /proc is masked (a container?): start that container with "
			 "an unmasked one (podman run --security-opt unmask=ALL)");
	return r;
}

static int do_devpts(struct root *root, const struct op *op, struct err *err)
{
	static const struct fs_option options[] = { { "newinstance", NULL },
						    { "ptmxmode", "0666" },
						    { "mode", "0620" } };

	return attach_new(root, op, "devpts", options, ARRAY_LEN(options), MOUNT_NOEXEC | MOUNT_DEV,
			  err);
}

/* What cannot be reached from here cannot be reached by the command either. */
static bool is_out_of_reach(const struct op *op, int r)
{
	return (op->flags & OPF_OPTIONAL) && (r == -EACCES || r == -ENOENT);
}

int root_cover_by(struct root *root, const struct op *op, int fd, struct err *err)
{
	int r;

	if (fd < 0)
		return err_errno(err, -fd, "covering '%s'", op->dest);
	r = root_attach(root, op, fd, err);
	return is_out_of_reach(op, r) ? 0 : r;
}

/* The place comes first: to give up a mount that has none takes the kernel as long as ten of them. */
int root_cover(struct root *root, const struct op *op, const char *name, struct err *err)
{
	const char *last = go_to(root, op, err);
	int r = last ? make_mount_point(root, op, last, err) : -err->code;

	if (r < 0)
		return is_out_of_reach(op, r) ? 0 : r;
	return root_cover_by(root, op, mount_clone(root->scratch, name, MOUNT_RO | MOUNT_NOEXEC),
			     err);
}

static int do_cover(struct root *root, const struct op *op, struct err *err)
{
	char name[16];

	snprintf(name, sizeof(name), "%d", root->n_scratch++);
	if (write_file(root->scratch, name, op, err) < 0)
		return -err->code;
	return root_cover(root, op, name, err);
}

static int do_hide(struct root *root, const struct op *op, struct err *err)
{
	bool dir = op->flags & OPF_DIR;
	const char *name = dir ? "empty.d" : "empty";
	int r = dir ? mkdirat(root->scratch, name, 0555)
		    : mknodat(root->scratch, name, S_IFREG | 0444, 0);

	if (r < 0 && errno != EEXIST)
		return err_errno(err, errno, "hiding '%s'", op->dest);
	return root_cover(root, op, name, err);
}

static int do_readonly(struct root *root, const struct op *op, struct err *err)
{
	/* It may lie in the workspace, where a link could have taken its place. */
	_cleanup_close_ int at = os_openat2(root->fd, op->dest + 1, O_PATH, 0,
					    RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
	int fd = at < 0 ? at : mount_clone(at, "", MOUNT_RO);

	if (fd < 0)
		return err_errno(err, -fd, "making '%s' read-only", op->dest);
	return root_attach(root, op, fd, err);
}

/* The supervisor listens; the name is in our own file system, which is read-only from here on. */
static int do_socket(struct root *root, const struct op *op, struct err *err)
{
	const char *name = go_to(root, op, err);
	enum control_type type = strcmp(op->dest, EXEC_DOOR_INSIDE) ? CONTROL_AGENT : CONTROL_DOOR;
	_cleanup_close_ int fd = -1;
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	if (!name)
		return -err->code;
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", name);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* The new root is entered, and with it the directory left, when it is complete. */
	if (fd < 0 || fchdir(root->parent) < 0 ||
	    bind(fd, (const struct sockaddr *)&at, sizeof(at)) < 0 ||
	    fchmodat(root->parent, name, op->mode, 0) < 0 || listen(fd, SOMAXCONN) < 0)
		return err_errno(err, errno, "listening on '%s'", op->dest);
	return child_send(root->child, type, 0, fd, err);
}

static int (*const actions[])(struct root *, const struct op *, struct err *) = {
	[OP_DIR] = do_dir,           [OP_FILE] = do_file,       [OP_LINK] = do_link,
	[OP_BIND] = do_bind,         [OP_SCRATCH] = do_scratch, [OP_PROC] = do_proc,
	[OP_DEVPTS] = do_devpts,     [OP_COVER] = do_cover,     [OP_HIDE] = do_hide,
	[OP_READONLY] = do_readonly, [OP_SOCKET] = do_socket,   [OP_DENY] = root_deny,
	[OP_PASS] = root_pass,       [OP_COW] = do_cow,         [OP_IMAGE] = do_image,
};

int root_do(struct root *root, const struct op *op, struct err *err)
{
	return actions[op->kind](root, op, err);
}
