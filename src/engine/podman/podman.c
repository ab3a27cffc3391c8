/* SPDX-License-Identifier: MIT */
/*
 * The podman engine: makes the session's directory, starts 'podman run' as a child in a session of its own,
 * and stays. podman makes the container through conmon, which outlives the client; PID 1 in it is ours and
 * ends when we do, however that happens, and conmon then removes the container.
 *
 * What an attacker controls: the project and other sources until podman mounts them (podman looks them up again, by
 * paths that had no link in them a moment before), the image, and what the container says once the command runs (link.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>

#include "base/path.h"
#include "engine/client.h"
#include "engine/guards.h"
#include "engine/keys.h"
#include "engine/podman/container.h"
#include "os/fs.h"
#include "os/proc.h"
#include "plan/podman.h"

/* The plan judged this very path; a link that stands there now was not judged. */
static int check_sources(const struct plan *plan, struct err *err)
{
	for (size_t i = 0; i < plan->n_ops; i++) {
		const struct op *op = &plan->ops[i];
		_cleanup_close_ int fd = -1;

		if (!(op->flags & OPF_CHECK) || (op->flags & OPF_MAKE))
			continue;
		fd = os_openat2(AT_FDCWD, op->src, O_PATH, 0, RESOLVE_NO_SYMLINKS);
		if (fd < 0)
			return err_errno(err, -fd, "mounting '%s' on '%s'", op->src, op->dest);
	}
	return 0;
}

static int start_client(struct container *c, struct err *err)
{
	struct strv argv = { 0 };

	podman_argv(&c->arena, c->sandbox.plan, c->stage, c->id, &argv);
	c->begun = true;
	/* One that is killed between making the container and starting it would leave it there, and who waits in it.
	 * wrapix-init finds us gone and ends, and podman removes the container as ever. */
	return client_start(&c->sandbox, argv.v, plan_is_interactive(c->sandbox.plan),
			    plan_is_machine(c->sandbox.plan) ? CLIENT_DIES : CLIENT_FINISHES, err);
}

/* What overlayfs leaves in its own directory belongs to an id of the container's, which podman can be. */
static void clean_layers(struct container *c)
{
	const struct plan *plan = c->sandbox.plan;

	for (size_t i = 0; c->layers && i < plan->n_ops; i++) {
		_cleanup_free_ char *says = NULL;
		char *argv[] = { plan->podman.program,
				 (char *)"unshare",
				 (char *)"rm",
				 (char *)"-rf",
				 NULL,
				 NULL };

		if (plan->ops[i].kind != OP_COW)
			continue;
		argv[4] = arena_printf(&c->arena, "%s/work/work", plan->ops[i].layer);
		(void)os_capture_all(argv, 30, 65536, &says); /* 'discard' says what is left */
	}
}

static void clean(struct container *c)
{
	client_end(&c->sandbox);
	/* podman, its conmon or its runtime was killed, or failed half-way. */
	if (c->begun && !c->ended)
		c->ended = stage_remove_container(c->sandbox.plan, c->id) == 0;
	machine_end(c);
	stage_remove(c);
	clean_layers(c);
	close_ptr(&c->init);
	sandbox_release(&c->sandbox);
	arena_release(&c->arena);
}

/* What can fail before anything is made. */
static int check(struct container *c, const struct plan *plan, struct err *err)
{
	int r = check_sources(c->sandbox.plan, err);

	if (r == 0)
		r = places_check(c, c->sandbox.plan, err);
	return r == 0 ? image_load(plan, c->sandbox.hooks, err) : r;
}

/* 1: the command runs; 0: a signal came first, and *ret_status is the end. */
static int start(struct container *c, int *ret_status, struct err *err)
{
	const struct plan *plan = c->sandbox.plan;
	int r = ports_bind(&c->sandbox.ports, plan->ports, plan->n_ports, err);

	if (r == 0)
		r = stage_make(c, err);
	if (r == 0)
		r = start_client(c, err);
	if (r == 0)
		r = keys_load(&c->sandbox, err);
	if (r == 0)
		r = guards_prepare(&c->sandbox, err);
	return r == 0 ? container_await(c, ret_status, err) : r;
}

int podman_run(const struct plan *plan, const struct engine_session *session,
	       const struct engine_hooks *hooks, int *ret_status, struct err *err)
{
	struct container c = {
		.sandbox = { .hooks = hooks,
			     .link = plan_is_machine(plan) ? &machine_link : &podman_link,
			     SANDBOX_NONE },
		.id = session->id,
		.layers = session->layers,
		.lock = -1,
		.to = -1,
		.init = -1,
		.life = -1,
		.exit = -1,
	};
	int dumpable = os_dumpable();
	struct plan present;
	sigset_t signals, old;
	int r;

	c.stage = path_join(&c.arena, plan->podman.base, session->id);
	plan_present(&c, plan, &present);
	c.sandbox.plan = &present;
	supervised_signals(&signals);
	stage_sweep(plan);
	r = check(&c, plan, err);
	sigprocmask(SIG_BLOCK, &signals, &old);
	c.sandbox.ports.automatic = plan->publish_auto;
	if (r == 0)
		r = start(&c, ret_status, err);
	if (r > 0) {
		os_set_dumpable(0);
		r = supervise(&c.sandbox, ret_status, err);
	}
	clean(&c);
	os_set_dumpable(dumpable);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return r;
}
