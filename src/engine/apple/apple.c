/* SPDX-License-Identifier: MIT */
/*
 * The engine of macOS: makes the session's directory, starts 'container run' as a child in a session of its own,
 * and stays. container's service makes a virtual machine and outlives the child; what runs in the machine
 * first is wrapix-entry, which ends it when we do, however that happens (link.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/path.h"
#include "base/str.h"
#include "engine/apple/machine.h"
#include "engine/keys.h"
#include "os/darwin/container.h"
#include "os/fs.h"
#include "os/platform.h"
#include "os/proc.h"
#include "os/tty.h"

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

/* container's side of the terminal; ours is the master. */
static int open_pty(struct machine *m, int *ret_slave, struct err *err)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	const char *name;

	*ret_slave = -1;
	m->sandbox.pty_master = master;
	if (master < 0 || fcntl(master, F_SETFD, FD_CLOEXEC) < 0 || grantpt(master) < 0 ||
	    unlockpt(master) < 0 || !(name = ptsname(master)))
		return err_errno(err, errno, "making a terminal");
	*ret_slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (*ret_slave < 0)
		return err_errno(err, errno, "opening '%s'", name);
	tty_copy_settings(0, *ret_slave, true);
	return 0;
}

/* In a session of its own: what the user's terminal sends is for us, and we pass it on. */
_Noreturn static void client_main(char *const argv[], int slave, pid_t parent)
{
	os_die_with_parent(SIGKILL);
	if (getppid() != parent || setsid() < 0)
		_exit(EXIT_WRAPIX);
	if (slave >= 0 &&
	    (ioctl(slave, TIOCSCTTY, 0) < 0 || dup2(slave, 0) < 0 || dup2(slave, 1) < 0))
		_exit(EXIT_WRAPIX);
	os_reset_signals();
	os_close_all_but(3, NULL, 0);
	execv(argv[0], argv);
	_exit(EXIT_WRAPIX);
}

static int start_client(struct machine *m, struct err *err)
{
	struct strv argv = { 0 };
	pid_t parent = getpid();
	int slave = -1;
	int r = apple_argv(&m->arena, m->sandbox.plan, m->stage, m->id, &argv, err);

	if (r == 0 && apple_has_tty(m->sandbox.plan))
		r = open_pty(m, &slave, err);
	if (r < 0)
		return r;
	m->sandbox.pid = fork();
	if (m->sandbox.pid == 0)
		client_main(argv.v, slave, parent);
	if (slave >= 0)
		close(slave);
	if (m->sandbox.pid < 0)
		return err_errno(err, errno, "fork");
	m->sandbox.pidfd = os_pidfd_open(m->sandbox.pid);
	return m->sandbox.pidfd < 0 ? err_errno(err, -m->sandbox.pidfd, "watching container") : 0;
}

/* What ended in its own time has removed itself. */
static void clean(struct machine *m, bool failed)
{
	struct err ignored; /* the next session sweeps */

	if (m->sandbox.pid > 0) {
		kill(m->sandbox.pid, SIGKILL);
		while (waitpid(m->sandbox.pid, NULL, 0) < 0 && errno == EINTR)
			;
		failed = true;
	}
	if (failed && m->sandbox.pidfd >= 0)
		(void)container_remove(m->sandbox.plan->apple.program,
				       arena_printf(&m->arena, "wrapix-%s", m->id), &ignored);
	machine_unstage(m);
	if (m->listener >= 0)
		close(m->listener);
	if (m->silence >= 0)
		close(m->silence);
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
