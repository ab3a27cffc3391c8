/* SPDX-License-Identifier: MIT */
/*
 * The session's directory: everything that the entrypoint reads, and the sockets that container relays. It is
 * the user's alone (0700); it is gone when the session ends, or when the next one starts. What the machine
 * may write of it is the second names of files that the user has given it to write.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/path.h"
#include "base/str.h"
#include "engine/apple/machine.h"
#include "engine/point.h"
#include "engine/relays.h"
#include "engine/sessiondir.h"
#include "os/darwin/container.h"
#include "os/fs.h"
#include "os/tty.h"
#include "plan/apple.h"

#define COPY_MAX (256u << 20) /* of a single file */

/* A file of the host's as it is now, whatever links lead to it. */
static int copy_file(const struct op *op, const char *path, struct err *err)
{
	_cleanup_close_ int fd = open(op->src, O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *data = NULL;
	struct stat st = { 0 };
	size_t len = 0;
	int r = fd < 0 || fstat(fd, &st) < 0 ? -errno : os_read_fd(fd, COPY_MAX, &data, &len);

	if (r == -EFBIG) {
		err_set(err, EFBIG, "'%s' is too large to be copied for '%s'", op->src, op->dest);
		return err_hint(err, "mount the directory that it is in");
	}
	if (r < 0)
		return err_errno(err, -r, "reading '%s'", op->src);
	return sessiondir_write(path, data, len, st.st_mode & 0555, err);
}

/* A second name, so that what is written is written to the user's file. */
static int name_file(const struct op *op, const char *path, struct err *err)
{
	if (linkat(AT_FDCWD, op->src, AT_FDCWD, path, 0) == 0)
		return 0;
	err_errno(err, errno, "giving '%s' to the machine to be written", op->src);
	return err_hint(err, "mount the directory that it is in, or add ':ro'");
}

static int stage_bind(const struct op *op, const char *path, struct err *err)
{
	if ((op->flags & OPF_OPTIONAL) && access(op->src, F_OK) < 0)
		return sessiondir_write(path, "", 0, 0444, err);
	return op->flags & OPF_RO ? copy_file(op, path, err) : name_file(op, path, err);
}

static int make_link(const char *target, const char *path, struct err *err)
{
	return symlink(target, path) < 0 ? err_errno(err, errno, "linking '%s'", path) : 0;
}

static int stage_op(struct machine *m, const struct op *op, struct err *err)
{
	const struct plan *plan = m->sandbox.plan;
	char *path = apple_staged(&m->arena, plan, op, m->stage);

	if (!path)
		return 0;
	if (os_mkdirs(path_parent(&m->arena, path), 0755, err) < 0)
		return -err->code;
	switch (op->kind) {
	case OP_DIR:
	case OP_SCRATCH:
		return sessiondir_mkdir(path, op->mode, err);
	case OP_LINK: /* the file that it leads to is staged by itself */
		return apple_way(plan, op) == APPLE_TREE ? make_link(op->src, path, err) : 0;
	case OP_SOCKET:
		return make_link(apple_socket(&m->arena, APPLE_INSIDE, "agent"), path, err);
	case OP_BIND:
		return stage_bind(op, path, err);
	default:
		return sessiondir_write(path, op->src, strlen(op->src), op->mode ? op->mode : 0444,
					err);
	}
}

static bool is_mount(const struct plan *plan, const struct op *op)
{
	return apple_way(plan, op) == APPLE_DIR;
}

static int check_point(struct machine *m, const struct op *op, struct err *err)
{
	const struct op *around = point_around(m->sandbox.plan, op, is_mount);

	return around ? point_check(&m->arena, op, around, err) : 0;
}

static int stage_ops(struct machine *m, struct err *err)
{
	const struct plan *plan = m->sandbox.plan;
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->n_ops; i++) {
		const struct op *op = &plan->ops[i];

		if (op->kind == OP_BIND && (op->flags & OPF_MAKE))
			r = os_mkdirs(op->src, 0700, err);
		if (r == 0 && (op->kind == OP_BIND || op->kind == OP_COVER))
			r = check_point(m, op, err);
		if (r == 0)
			r = stage_op(m, op, err);
	}
	return r;
}

static int write_env(struct machine *m, const char *in, struct err *err)
{
	const struct plan *plan = m->sandbox.plan;
	_cleanup_str_ struct str out = { 0 };
	struct strv ours = { 0 };
	int size = plan_is_interactive(plan) ? tty_size(0) : 0, r;

	apple_env(&m->arena, plan, &ours);
	if (size) { /* container sets it once the entrypoint runs */
		strv_addf(&m->arena, &ours, "WRAPIX_ROWS=%d", size >> 16);
		strv_addf(&m->arena, &ours, "WRAPIX_COLUMNS=%d", size & 0xffff);
	}
	for (size_t i = 0; i < plan->env.len; i++)
		str_addn(&out, plan->env.v[i], strlen(plan->env.v[i]) + 1);
	for (size_t i = 0; i < ours.len; i++)
		str_addn(&out, ours.v[i], strlen(ours.v[i]) + 1);
	r = sessiondir_write(path_join(&m->arena, in, "env"), out.s, out.len, 0600, err);
	if (out.s)
		explicit_bzero(out.s, out.len);
	return r;
}

static int write_binds(struct machine *m, const char *in, struct err *err)
{
	_cleanup_str_ struct str out = { 0 };

	apple_binds(&m->arena, m->sandbox.plan, &out);
	return sessiondir_write(path_join(&m->arena, in, "binds"), out.s ? out.s : "", out.len,
				0644, err);
}

/* --- sockets --- */

static int listen_at(struct machine *m, const char *name, int *ret, struct err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char *path = apple_socket(&m->arena, m->stage, name);
	_cleanup_close_ int fd = -1;

	if (strlen(path) >= sizeof(address.sun_path)) {
		err_set(err, ENAMETOOLONG, "the path of a socket would be too long: '%s'", path);
		return err_hint(err, "set XDG_STATE_HOME to a shorter directory");
	}
	memcpy(address.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (fd < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) < 0 ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || chmod(path, 0600) < 0 ||
	    listen(fd, 64) < 0)
		return err_errno(err, errno, "making the socket '%s'", path);
	*ret = take_fd(&fd);
	return 0;
}

static int listen_for(void *ctx, size_t n, _unused_ uint16_t port, int *ret, struct err *err)
{
	struct machine *m = ctx;

	return listen_at(m, arena_printf(&m->arena, "relay-%zu", n), ret, err);
}

static int make_sockets(struct machine *m, struct err *err)
{
	const struct plan *plan = m->sandbox.plan;
	int r = plan->apple.relays ? listen_at(m, "link", &m->listener, err) : 0;

	if (r == 0 && plan->net == NET_FILTERED)
		r = listen_at(m, "net", &m->sandbox.outlet, err);
	if (r == 0 && plan_has_key_agent(plan))
		r = listen_at(m, "agent", &m->sandbox.agent, err);
	return r == 0 ? relays_offer(&m->sandbox, listen_for, m, err) : r;
}

/* --- the whole --- */

int machine_stage(struct machine *m, struct err *err)
{
	static const char *const dirs[] = { "in/tree", "in/files", "live", "said" };
	char *in = path_join(&m->arena, m->stage, "in");
	int r = sessiondir_make(&m->arena, m->sandbox.plan->apple.base, m->stage, &m->lock, err);

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(dirs); i++)
		r = os_mkdirs(path_join(&m->arena, m->stage, dirs[i]), 0755, err);
	if (r == 0)
		r = write_env(m, in, err);
	if (r == 0)
		r = write_binds(m, in, err);
	if (r == 0)
		r = stage_ops(m, err);
	return r == 0 ? make_sockets(m, err) : r;
}

void machine_hide_env(const struct machine *m)
{
	_cleanup_close_ int dir = open(m->stage, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	unlinkat(dir, "in/env", 0); /* it goes with the rest otherwise */
}

void machine_unstage(struct machine *m)
{
	sessiondir_remove(m->stage, m->lock);
}

/* Its supervisor is gone: the machine has ended with it, or is ended now. */
static int end_machine(const void *ctx, const char *id)
{
	const struct plan *plan = ctx;
	struct arena arena = { 0 };
	struct err ignored; /* the next session tries again */
	int r = container_remove(plan->apple.program, arena_printf(&arena, "wrapix-%s", id),
				 &ignored);

	arena_release(&arena);
	return r;
}

void machine_sweep(const struct plan *plan)
{
	sessiondir_sweep(plan->apple.base, end_machine, plan);
}
