/* SPDX-License-Identifier: MIT */
/*
 * The process that becomes the command: in every namespace of the sandbox, inside its root, without
 * capabilities, with no_new_privs. The order matters: what needs a right comes before that right goes,
 * and the filter, which makes calls wait for the supervisor, comes last.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/command.h"
#include "engine/native/native.h"
#include "os/fs.h"
#include "os/linux/landlock.h"
#include "os/linux/seccomp.h"
#include "spec/agent.h"

/* A group of its own in PID 1's session: with its parent in the same session it is not orphaned, so
 * Ctrl-Z stops it. */
static int take_terminal(const struct child *child, struct err *err)
{
	if (setpgid(0, 0) < 0)
		return err_errno(err, errno, "setpgid");
	if (child->pty_slave < 0)
		return 0;
	if (tcsetpgrp(child->pty_slave, getpid()) < 0) /* SIGTTOU is blocked */
		return err_errno(err, errno, "taking the terminal");
	for (int fd = 0; fd < 3; fd++)
		if (child->plan->tty[fd] && dup2(child->pty_slave, fd) < 0)
			return err_errno(err, errno, "standard descriptors");
	return 0;
}

/* Under the broker is who has its filter. */
static int enter_landlock(const struct child *child, struct err *err)
{
	static const enum landlock_class classes[] = {
		[ACCESS_READ] = LANDLOCK_READ,
		[ACCESS_WRITE] = LANDLOCK_WRITE,
		[ACCESS_DEV] = LANDLOCK_DEV,
	};
	bool guarded = child->seccomp & SECCOMP_NOTIFY_FILES;
	const struct plan *plan = child->plan;
	struct landlock_rule rules[64];
	struct landlock_rule *all = rules;
	int r;

	if (plan->n_rules > ARRAY_LEN(rules))
		all = calloc(plan->n_rules, sizeof(*all));
	if (!all)
		return err_errno(err, ENOMEM, "Landlock rules");
	for (size_t i = 0; i < plan->n_rules; i++)
		all[i] = (struct landlock_rule){ plan->rules[i].path,
						 classes[plan->rules[i].class] };
	r = (guarded ? landlock_restrict_guarded : landlock_restrict)(plan->landlock_abi, all,
								      plan->n_rules, err);
	if (all != rules)
		free(all);
	return r;
}

/* Without questions PID 1's filter is ours, too. */
static int load_filter(const struct child *child, struct err *err)
{
	_cleanup_close_ int listener = -1;
	int r;

	if (!(child->seccomp & SECCOMP_NOTIFY))
		return 0;
	r = seccomp_load(child->seccomp, &listener, err);
	return r < 0 ? r : child_send(child, CONTROL_LISTENER, 0, listener, err);
}

static int confine(const struct child *child, struct err *err)
{
	const struct plan *plan = child->plan;
	int r = rlimits_apply(&plan->cgroup, child->limits_by, &plan->limits, err);

	if (r == 0)
		r = enter_landlock(child, err);
	return r == 0 ? load_filter(child, err) : r;
}

/* Not of a single command, which has all of the host's. */
static int hint_not_inside(const struct plan *plan, const char *name, struct err *err)
{
	if (agent_is_built_in(name))
		return err_hint(err,
				"an agent comes in by --agent, with what it needs: wrapix run "
				"--agent %s -- %s ...",
				name, name);
	return err_hint(err, plan_has_image(plan)
				     ? "what is inside is the image's and the project"
				     : "inside are this machine's /usr and the project, nothing of "
				       "your home: --mount, --profile and --package bring more");
}

static int start_command(const struct child *child, struct err *err)
{
	const struct plan *plan = child->plan;
	const char *name = plan->argv.v[0];
	int code = exec_command(plan->argv.v, plan->env.v);
	struct stat st;

	err_errno(err, code, "executing '%s'", name);
	err->exit = code == ENOENT || code == ENOTDIR ? EXIT_NOTFOUND : EXIT_NOEXEC;
	if (code == EACCES && strchr(name, '/') && !stat(name, &st) && !(st.st_mode & 0111))
		err_hint(err, "its mode lets nobody execute it: chmod +x '%s'", name);
	else if (code == ENOENT && strchr(name, '/') && !access(name, F_OK))
		err_hint(err,
			 "'%s' is there; what is not is the interpreter in its first line, or "
			 "the loader it was built for",
			 name);
	else if (err->exit == EXIT_NOTFOUND && plan->hostname)
		hint_not_inside(plan, name, err);
	return -code;
}

/* The handlers went with clone3. What the user ignores (nohup) stays ignored, but for SIGPIPE: that
 * is a habit of the languages we are started from, and a filter must end with its pipe. */
static void unblock_signals(void)
{
	sigset_t none;

	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

_Noreturn void target_main(struct child *child)
{
	const struct plan *plan = child->plan;
	struct err err = { 0 };
	int r = take_terminal(child, &err);

	if (r == 0 && chdir(plan->cwd) < 0)
		r = err_errno(&err, errno, "entering '%s'", plan->cwd);
	child_close_others(child);
	unblock_signals();
	if (r == 0)
		r = confine(child, &err);
	if (r == 0)
		(void)start_command(child, &err);
	/* The supervisor is gone when this fails; there is nobody to tell. */
	(void)os_write_all(child->status, &err, sizeof(err));
	_exit(err.exit);
}
