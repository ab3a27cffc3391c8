/* SPDX-License-Identifier: MIT */
/*
 * While podman's runtime makes the container, everything of the user's is read-only in it (hook.c): its links could lead
 * the runtime anywhere. Now that wrapix-init waits and nothing else will be mounted, what the sandbox may write to
 * becomes writable: a child joins the container's user and mount namespace and takes the flag away, mount by mount.
 *
 * What an attacker controls: the image, and so where a path leads. A place is opened without following links, is what it
 * was on the host, and has been read-only until now; else the start fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/path.h"
#include "engine/podman/container.h"
#include "os/fs.h"
#include "os/linux/mount.h"
#include "os/proc.h"

struct opened {
	const char *dest, *src;
	struct stat was; /* on the host */
	bool view;       /* podman's overlay: it is nowhere else */
	bool below;      /* came along with a mount; podman may have seen none there */
};

/* --- what is to be writable --- */

static bool is_hidden(const struct plan *plan, size_t i)
{
	for (size_t j = i + 1; j < plan->n_ops; j++)
		if ((plan->ops[j].kind == OP_BIND || plan->ops[j].kind == OP_SCRATCH ||
		     plan->ops[j].kind == OP_COW) &&
		    !strcmp(plan->ops[i].dest, plan->ops[j].dest))
			return true;
	return false;
}

/* Something else of the plan's lies there, or around it. */
static bool is_covered(const struct plan *plan, const struct op *op, const char *dest)
{
	for (size_t i = 0; i < plan->n_ops; i++)
		if (strlen(plan->ops[i].dest) > strlen(op->dest) &&
		    path_is_below(dest, plan->ops[i].dest))
			return true;
	return false;
}

struct list {
	struct opened *v;
	size_t len;
};

/* What cannot be written to on the host cannot inside either; a file was never read-only, but where it came along. */
static int add(struct container *c, struct list *list, const struct opened *what, struct err *err)
{
	struct opened opened = *what;
	struct statvfs fs;

	if (!what->view) {
		if (stat(what->src, &opened.was) < 0 || statvfs(what->src, &fs) < 0)
			return what->below ? 0
					   : err_errno(err, errno, "looking at '%s'", what->src);
		if ((fs.f_flag & ST_RDONLY) || (!what->below && !S_ISDIR(opened.was.st_mode)))
			return 0;
	}
	*(struct opened *)arena_grow(&c->arena, &list->v, &list->len, sizeof(*list->v)) = opened;
	return 0;
}

/* What is mounted on the host below a place came along. */
static int add_below(struct container *c, struct list *list, size_t i, const char *src,
		     const char *points, struct err *err)
{
	const struct op *op = &c->sandbox.plan->ops[i];
	int r = 0;

	for (const char *p = points; r == 0 && *p; p += strlen(p) + 1) {
		const char *rest = strcmp(p, src) ? path_below(p, src) : NULL;
		struct opened opened = { .src = p, .below = true };

		if (!rest || is_covered(c->sandbox.plan, op, path_join(&c->arena, op->dest, rest)))
			continue;
		opened.dest = path_join(&c->arena, c->places[i], rest);
		r = add(c, list, &opened, err);
	}
	return r;
}

static int list_places(struct container *c, const char *points, struct list *list, struct err *err)
{
	const struct plan *plan = c->sandbox.plan;
	int r = points ? 0 : err_set(err, EIO, "what is mounted on this machine cannot be read");

	for (size_t i = 0; r == 0 && i < plan->n_ops; i++) {
		const struct op *op = &plan->ops[i];
		struct opened opened = { c->places[i], op->src, .view = op->kind == OP_COW };

		if ((op->kind != OP_BIND && op->kind != OP_COW) || (op->flags & OPF_RO) ||
		    is_hidden(plan, i))
			continue;
		if (op->flags & OPF_SESSION)
			opened.src = op_session_source(&c->arena, op, c->id);
		r = add(c, list, &opened, err);
		if (r == 0 && op->kind == OP_BIND)
			r = add_below(c, list, i, opened.src, points, err);
	}
	return r;
}

/* --- the child --- */

static bool is_what_it_was(int fd, const struct opened *opened)
{
	struct stat is;

	if (opened->view)
		return mount_is_view(fd);
	return fstat(fd, &is) == 0 && os_same_file(&is, &opened->was);
}

static int open_up(const struct opened *opened, struct err *err)
{
	_cleanup_close_ int fd = os_openat2(AT_FDCWD, opened->dest, O_PATH, 0, RESOLVE_NO_SYMLINKS);
	struct statvfs fs;
	int r;

	if (fd < 0 || !is_what_it_was(fd, opened)) {
		if (opened->below)
			return 0;
		if (fd < 0)
			return err_errno(err, -fd, "making '%s' writable in the container",
					 opened->dest);
		err_set(err, ESTALE, "'%s' in the container is not '%s'", opened->dest,
			opened->src);
		return err_hint(err, "a link of the image, or somebody who changed the place, has "
				     "led podman elsewhere");
	}
	if (fstatvfs(fd, &fs) < 0 || !(fs.f_flag & ST_RDONLY)) {
		err_set(err, ENOTSUP, "podman's runtime did not keep '%s' read-only at first",
			opened->dest);
		return err_hint(err, "that needs crun 1.4 or runc 1.1, and podman that obeys "
				     "--hooks-dir");
	}
	r = mount_make_writable(fd);
	return r < 0 ? err_errno(err, -r, "making '%s' writable in the container", opened->dest)
		     : 0;
}

_Noreturn static void child_main(int init, const struct list *list, int says)
{
	struct err err = { 0 };
	int r = mount_enter(init);

	if (r < 0)
		err_errno(&err, -r, "joining the namespaces of podman's container");
	for (size_t i = 0; r == 0 && i < list->len; i++)
		r = open_up(&list->v[i], &err);
	_exit(r < 0 && write(says, &err, sizeof(err)) < 0);
}

static int open_all(int init, const struct list *list, struct err *err)
{
	_cleanup_close_ int hears = -1;
	struct err said;
	ssize_t got;
	int pair[2];
	pid_t pid;

	if (pipe2(pair, O_CLOEXEC) < 0)
		return err_errno(err, errno, "a pipe");
	hears = pair[0];
	pid = fork();
	if (pid == 0)
		child_main(init, list, pair[1]);
	close(pair[1]);
	if (pid < 0)
		return err_errno(err, errno, "making what podman has mounted writable");
	do {
		got = read(hears, &said, sizeof(said));
	} while (got < 0 && errno == EINTR);
	if (os_await(pid) != 0 || (got != 0 && got != sizeof(said)))
		return err_set(err, EIO, "what podman has mounted could not be made writable");
	if (got == 0)
		return 0;
	*err = said;
	return -said.code;
}

int container_make_writable(struct container *c, struct err *err)
{
	_cleanup_free_ char *points = mount_points();
	struct list list = { 0 };
	int r = list_places(c, points, &list, err);

	return r == 0 && list.len ? open_all(c->init, &list, err) : r;
}
