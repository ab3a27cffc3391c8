/* SPDX-License-Identifier: MIT */
/*
 * The session's directory: everything that podman and wrapix-init read. It is the user's alone (0700) and
 * lies where the runtime directory is, in memory on most systems; it is gone when the session ends, or
 * when the next one starts.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "engine/podman/container.h"
#include "engine/point.h"
#include "engine/sessiondir.h"
#include "os/fs.h"
#include "os/linux/seccomp.h"
#include "os/proc.h"
#include "plan/podman.h"

/* A socket address is short, and the path may be long: the name is bound in its directory. */
static int make_socket(struct container *c, const char *path, struct err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_close_ int dir = open(path_parent(&c->arena, path),
				       O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", dir,
		 path_name(path));
	if (dir < 0 || fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    chmod(path, 0600) < 0 || listen(fd, 64) < 0)
		return err_errno(err, errno, "making the socket '%s'", path);
	c->sandbox.agent = take_fd(&fd);
	return 0;
}

static int stage_op(struct container *c, const struct op *op, struct err *err)
{
	char *path = podman_staged(&c->arena, c->sandbox.plan, op, c->stage);

	if (!path)
		return 0;
	if (os_mkdirs(path_parent(&c->arena, path), 0755, err) < 0)
		return -err->code;
	switch (op->kind) {
	case OP_DIR:
		return sessiondir_mkdir(path, op->mode, err);
	case OP_LINK:
		return symlink(op->src, path) < 0 ? err_errno(err, errno, "linking '%s'", path) : 0;
	case OP_SOCKET:
		return make_socket(c, path, err);
	case OP_BIND: /* what podman mounts on */
		return op->flags & OPF_DIR ? sessiondir_mkdir(path, 0, err)
					   : sessiondir_write(path, "", 0, 0644, err);
	default:
		return sessiondir_write(path, op->src, strlen(op->src), op->mode, err);
	}
}

static bool is_mount(_unused_ const struct plan *plan, const struct op *op)
{
	return op->kind == OP_BIND || op->kind == OP_SCRATCH || op->kind == OP_COW;
}

static int check_point(struct container *c, const struct op *op, struct err *err)
{
	const struct plan *plan = c->sandbox.plan;
	const struct op *around = point_around(plan, op, is_mount);

	if (!around || around->kind == OP_SCRATCH || podman_stage(plan, op) == STAGE_DIR)
		return 0;
	return point_check(&c->arena, op, around, err);
}

static int stage_ops(struct container *c, struct err *err)
{
	const struct plan *plan = c->sandbox.plan;
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->n_ops; i++) {
		const struct op *op = &plan->ops[i];

		if (op->kind == OP_BIND && (op->flags & OPF_MAKE))
			r = os_mkdirs(op->src, 0700, err);
		if (r == 0 && op->kind == OP_BIND)
			r = check_point(c, op, err);
		if (r == 0)
			r = stage_op(c, op, err);
	}
	return r;
}

static int write_env(struct container *c, const char *dir, struct err *err)
{
	const struct strv *env = &c->sandbox.plan->env;
	_cleanup_str_ struct str out = { 0 };
	int r;

	for (size_t i = 0; i < env->len; i++)
		str_addn(&out, env->v[i], strlen(env->v[i]) + 1);
	r = sessiondir_write(path_join(&c->arena, dir, "env"), out.s ? out.s : "", out.len, 0600,
			     err);
	if (out.s)
		explicit_bzero(out.s, out.len);
	return r;
}

static int write_rules(struct container *c, const char *dir, struct err *err)
{
	const struct plan *plan = c->sandbox.plan;
	_cleanup_str_ struct str out = { 0 };

	for (size_t i = 0; i < plan->n_rules; i++) {
		str_addn(&out, &STAGE_CLASSES[plan->rules[i].class], 1);
		str_addn(&out, plan->rules[i].path, strlen(plan->rules[i].path) + 1);
	}
	return sessiondir_write(path_join(&c->arena, dir, "rules"), out.s ? out.s : "", out.len,
				0644, err);
}

/* Ours are open before podman starts: wrapix-init finds both, or knows that we are gone. */
static int make_fifos(struct container *c, const char *dir, struct err *err)
{
	char *to = path_join(&c->arena, dir, "to"), *from = path_join(&c->arena, dir, "from");

	if (mkfifo(to, 0600) < 0 || mkfifo(from, 0600) < 0)
		return err_errno(err, errno, "making FIFOs in '%s'", dir);
	c->to = open(to, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	c->sandbox.control = open(from, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	return c->to < 0 || c->sandbox.control < 0 ? err_errno(err, errno, "opening FIFOs") : 0;
}

/* podman asks wrapix-init before it makes the container (hook.c). */
static int write_hook(struct container *c, struct err *err)
{
	char *dir = path_join(&c->arena, c->stage, "hooks");
	_cleanup_str_ struct str out = { 0 };
	int r = os_mkdirs(dir, 0700, err);

	if (r < 0)
		return r;
	str_add(&out, "{\"version\":\"1.0.0\",\"hook\":{\"path\":");
	json_add_string(&out, c->sandbox.plan->podman.init);
	str_add(&out, ",\"args\":[\"wrapix-init\",\"--hook\"]},\"when\":{\"always\":true},"
		      "\"stages\":[\"precreate\"]}\n");
	return sessiondir_write(path_join(&c->arena, dir, "wrapix.json"), out.s, out.len, 0600,
				err);
}

int stage_make(struct container *c, struct err *err)
{
	const struct plan *plan = c->sandbox.plan;
	const char *json = seccomp_json(plan_seccomp(plan));
	char *init = path_join(&c->arena, c->stage, "init");
	int r = sessiondir_make(&c->arena, plan->podman.base, c->stage, &c->lock, err);

	if (r == 0)
		r = os_mkdirs(path_join(&c->arena, init, "tree"), 0755, err);
	if (r == 0)
		r = plan_is_machine(plan) ? machine_begin(c, err) : make_fifos(c, init, err);
	if (r == 0)
		r = write_env(c, init, err);
	if (r == 0)
		r = write_rules(c, init, err);
	if (r == 0)
		r = write_hook(c, err);
	if (r == 0)
		r = sessiondir_write(path_join(&c->arena, c->stage, "seccomp.json"), json,
				     strlen(json), 0600, err);
	return r == 0 ? stage_ops(c, err) : r;
}

void stage_close(const struct container *c)
{
	static const char *const names[] = { "init/env", "init/to", "init/from" };
	_cleanup_close_ int dir = open(c->stage, O_PATH | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		unlinkat(dir, names[i], 0); /* one that stays goes with the rest */
}

void stage_empty(const struct container *c)
{
	static const char *const names[] = {
		"init", "dirs", "files", "hooks", "pid", "seccomp.json"
	};
	_cleanup_close_ int dir = open(c->stage, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; dir >= 0 && i < ARRAY_LEN(names); i++)
		(void)os_remove_tree(dir, names[i]); /* or stage_remove() does */
}

void stage_remove(struct container *c)
{
	if (!c->begun || c->ended)
		sessiondir_remove(c->stage, c->lock);
	else
		close_ptr(&c->lock);
	close_ptr(&c->to);
}

/* podman that finds its conmon killed notes that, and says that the container could not be stopped; the
 * second time it is removed. */
int stage_remove_container(const struct plan *plan, const char *id)
{
	struct arena arena = { 0 };
	char *argv[] = { plan->podman.program,
			 (char *)"rm",
			 (char *)"--force",
			 (char *)"--ignore",
			 (char *)"--time=0",
			 arena_printf(&arena, "wrapix-%s", id),
			 NULL };
	int r = -1;

	for (int i = 0; r != 0 && i < 2; i++) {
		_cleanup_free_ char *says = NULL;

		r = os_capture_all(argv, 30, 65536, &says);
	}
	conmon_end(path_join(&arena, plan->podman.base, id), id);
	arena_release(&arena);
	return r;
}

/* Its supervisor is gone: wrapix-init has ended with it, unless it was stopped. */
static int end_container(const void *ctx, const char *id)
{
	return stage_remove_container(ctx, id);
}

void stage_sweep(const struct plan *plan)
{
	sessiondir_sweep(plan->podman.base, end_container, plan);
}
