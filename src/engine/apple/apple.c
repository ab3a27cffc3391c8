/* SPDX-License-Identifier: MIT */
/*
 * The engine of macOS: makes the session's directory, starts 'container run' as a child in a session of its own,
 * and stays. container's service makes a virtual machine and outlives the child; what runs in the machine
 * first is wrapix-entry, which ends it when we do, however that happens (link.c).
 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "engine/apple/machine.h"
#include "engine/client.h"
#include "engine/keys.h"
#include "os/darwin/container.h"
#include "os/fs.h"
#include "os/platform.h"
#include "os/proc.h"
#include "plan/apple.h"

/* The plan judged this very path; a link that stands there now was not judged. */
static int check_sources(struct machine *m, struct err *err)
{
	const struct plan *plan = m->sandbox.plan;

	for (size_t i = 0; i < plan->n_ops; i++) {
		const struct op *op = &plan->ops[i];
		char *real;

		if (!(op->flags & OPF_CHECK) || (op->flags & OPF_MAKE))
			continue;
		real = os_realpath(&m->arena, op->src);
		if (!real || strcmp(real, op->src))
			return err_errno(err, real ? ELOOP : errno, "mounting '%s' on '%s'",
					 op->src, op->dest);
	}
	return 0;
}

/* What is not there is not asked for: container refuses a source that does not exist. */
static void take_present(struct machine *m, const struct plan *plan, struct plan *ret)
{
	*ret = *plan;
	ret->ops = NULL;
	ret->n_ops = 0;
	for (size_t i = 0; i < plan->n_ops; i++) {
		const struct op *op = &plan->ops[i];
		const char *src = op->flags & OPF_SESSION ? op_session_source(&m->arena, op, m->id)
							  : op->src;

		if (op->kind == OP_BIND && (op->flags & OPF_OPTIONAL) && access(src, F_OK) < 0)
			continue;
		*(struct op *)arena_grow(&m->arena, &ret->ops, &ret->n_ops, sizeof(*op)) = *op;
	}
}

static int load_image(const struct plan *plan, struct err *err)
{
	char *argv[] = { plan->apple.loader, (char *)"load",  plan->apple.name,
			 (char *)"--into",   (char *)"apple", NULL };
	_cleanup_free_ char *says = NULL;
	_cleanup_str_ struct str shown = { 0 };

	if (!plan->apple.loader || os_capture_all(argv, 600, 65536, &says) == 0)
		return 0;
	str_add_escaped(&shown, says ? says : "");
	err_set(err, EIO, "giving the image '%s' to container: %.400s", plan->apple.name,
		shown.s ? shown.s : "");
	return err_hint(err, "'wrapix image load %s --into apple' shows all of it",
			plan->apple.name);
}

static int start_client(struct machine *m, struct err *err)
{
	struct strv argv = { 0 };
	int r = apple_argv(&m->arena, m->sandbox.plan, m->stage, m->id, &argv, err);

	return r < 0 ? r
		     : client_start(&m->sandbox, argv.v, plan_is_interactive(m->sandbox.plan),
				    CLIENT_DIES, err);
}

/* What ended in its own time has removed itself. */
static void clean(struct machine *m, bool failed)
{
	struct err ignored; /* the next session sweeps */

	if (client_end(&m->sandbox))
		failed = true;
	if (failed && m->sandbox.pidfd >= 0)
		(void)container_remove(m->sandbox.plan->apple.program,
				       arena_printf(&m->arena, "wrapix-%s", m->id), &ignored);
	machine_unstage(m);
	close_ptr(&m->listener);
	close_ptr(&m->silence);
	sandbox_release(&m->sandbox);
	arena_release(&m->arena);
}

int apple_check(struct err *err)
{
	if (os_is_darwin())
		return 0;
	err_set(err, ENOTSUP, "the apple engine needs macOS");
	return err_hint(err,
			"leave --engine away; 'wrapix plan --engine apple' shows what it would do");
}

int apple_run(const struct plan *plan, const struct engine_session *session,
	      const struct engine_hooks *hooks, int *ret_status, struct err *err)
{
	struct machine m = {
		.sandbox = { .hooks = hooks, .link = &apple_link, SANDBOX_NONE },
		.id = session->id,
		.lock = -1,
		.listener = -1,
		.silence = -1,
	};
	int dumpable = os_dumpable();
	struct plan present;
	sigset_t signals, old;
	int r = apple_check(err);

	if (r < 0)
		return r;
	m.stage = path_join(&m.arena, plan->apple.base, session->id);
	take_present(&m, plan, &present);
	m.sandbox.plan = &present;
	supervised_signals(&signals);
	machine_sweep(plan);
	r = check_sources(&m, err);
	if (r == 0)
		r = load_image(plan, err);
	sigprocmask(SIG_BLOCK, &signals, &old);
	if (r == 0)
		r = machine_stage(&m, err);
	if (r == 0)
		r = start_client(&m, err);
	if (r == 0)
		r = keys_load(&m.sandbox, err);
	if (r == 0)
		r = machine_await(&m, ret_status, err);
	if (r > 0) {
		os_set_dumpable(0);
		r = supervise(&m.sandbox, ret_status, err);
	}
	clean(&m, r < 0);
	os_set_dumpable(dumpable);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return r;
}
