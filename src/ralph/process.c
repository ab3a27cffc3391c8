/* SPDX-License-Identifier: MIT */
/*
 * Commands as children. The child is the sandbox's supervisor itself: it makes the plan and runs it by
 * the library, as 'wrapix run' does. The kernel kills it when we die, and the sandbox with it.
 */
#include "ralph/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "api/api.h"
#include "base/str.h"
#include "os/proc.h"

enum { STATUS_FAILED = 125 };

static void say(const char *text, const char *more)
{
	dprintf(STDERR_FILENO, "ralph: %s%s%s\n", text, more && *more ? "; " : "",
		more ? more : "");
}

/* In the child. Warnings belong to who reads its errors. */
static void on_event(_unused_ void *ctx, const struct wrapix_event *event)
{
	if (event->type == WRAPIX_WARNING || event->type == WRAPIX_LIMIT)
		say(event->text ? event->text : "a limit was reached", NULL);
}

static int fill(struct wrapix_spec *spec, const struct process_spec *wanted,
		struct wrapix_error *error)
{
	int r = wrapix_spec_set(spec, "workspace", "cow", error);

	if (r == 0)
		r = wrapix_spec_set(spec, "name", wanted->name, error);
	if (r == 0 && wanted->offline)
		r = wrapix_spec_set(spec, "network", "none", error);
	if (r == 0 && wanted->agent)
		r = wrapix_spec_set(spec, "agent", wanted->agent, error);
	for (size_t i = 0; r == 0 && i < wanted->n_mounts; i++) {
		const struct process_mount *m = &wanted->mounts[i];
		struct mount_spec mount = { .src = (char *)m->src,
					    .dest = (char *)m->dest,
					    .rw = m->rw,
					    .layer = LAYER_FLAG };
		struct err err;

		if (spec_add_mount(&spec->spec, &mount, &err) < 0)
			r = api_fail(&err, error);
	}
	for (size_t i = 0; r == 0 && i < wanted->env.len; i++)
		r = wrapix_spec_add_env(spec, wanted->env.v[i], error);
	if (wanted->command)
		wrapix_spec_set_command(spec, (const char *const *)wanted->command);
	spec->spec.agent_args = wanted->agent_args;
	spec->spec.read_only = wanted->read_only;
	spec->spec.resume = arena_strdup(&spec->spec.arena, wanted->resume);
	spec->spec.keyless = true;
	spec->spec.agentless = !wanted->agent; /* gates and hooks */
	wrapix_spec_set_will_run(spec);
	return r;
}

/* In the child, which never comes back. */
static void run_sandbox(const struct process_spec *wanted)
{
	struct wrapix_spec *spec = wrapix_spec_new(wanted->dir);
	struct wrapix_error error = { 0 };
	struct wrapix_plan *plan;
	int status = STATUS_FAILED;

	if (fill(spec, wanted, &error) < 0 || wrapix_plan_make(spec, &plan, &error) < 0 ||
	    wrapix_plan_run(plan, on_event, NULL, &status, &error) < 0)
		say(error.message, error.hint);
	_exit(status);
}

static void run_on_host(const struct process_spec *wanted)
{
	if (chdir(wanted->dir) < 0)
		_exit(STATUS_FAILED);
	for (size_t i = 0; i < wanted->env.len; i++)
		putenv(wanted->env.v[i]);
	execvp(wanted->command[0], wanted->command);
	say("starting the command", strerror(errno));
	_exit(127);
}

static void redirect(int fd, int to)
{
	if (fd >= 0 ? dup2(fd, to) < 0 : false)
		_exit(STATUS_FAILED);
}

/* In the child. */
static void enter(const struct process_spec *spec, pid_t parent, int out)
{
	_cleanup_close_ int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (os_die_with_parent(SIGKILL) < 0 || getppid() != parent)
		_exit(STATUS_FAILED);
	os_reset_signals();
	if (!spec->terminal) {
		setpgid(0, 0);
		redirect(spec->in >= 0 ? spec->in : null, STDIN_FILENO);
		redirect(out, STDOUT_FILENO);
		redirect(spec->err >= 0 ? spec->err : out, STDERR_FILENO);
	}
	os_close_all_but(3, NULL, 0);
	if (spec->host)
		run_on_host(spec);
	else
		run_sandbox(spec);
	_exit(STATUS_FAILED);
}

static pid_t start(const struct process_spec *spec, int *ret_out, struct err *err)
{
	int pipes[2] = { -1, -1 };
	pid_t pid, parent = getpid();

	if (!spec->terminal && pipe2(pipes, O_CLOEXEC) < 0)
		return err_errno(err, errno, "making a pipe");
	pid = fork();
	if (pid == 0)
		enter(spec, parent, pipes[1]);
	if (pid < 0)
		err_errno(err, errno, "starting a process");
	close_ptr(&pipes[1]);
	if (pid < 0)
		close_ptr(&pipes[0]);
	*ret_out = pipes[0];
	return pid < 0 ? -err->code : pid;
}

static void forget(struct process *process)
{
	loop_remove(process->loop, &process->end);
	loop_remove(process->loop, &process->out);
	close_ptr(&process->end.fd);
	close_ptr(&process->out.fd);
	process->end.fd = process->out.fd = -1;
	process->pid = 0;
}

static int on_out(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	struct process *process = container_of(source, struct process, out);
	char buf[65536];
	ssize_t n = read(source->fd, buf, sizeof(buf));

	if (n > 0) {
		process->on_bytes(process->ctx, buf, (size_t)n);
		return 0;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	loop_remove(process->loop, source);
	close_ptr(&source->fd);
	source->fd = -1;
	return 0;
}

static int on_end(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	struct process *process = container_of(source, struct process, end);
	char buf[65536];
	ssize_t n;

	while (process->out.fd >= 0 && (n = read(process->out.fd, buf, sizeof(buf))) > 0)
		process->on_bytes(process->ctx, buf, (size_t)n);
	if (waitpid(process->pid, &process->status, 0) < 0)
		process->status = STATUS_FAILED << 8;
	forget(process);
	process->on_end(process->ctx, os_exit_code(process->status));
	return 0;
}

int process_start(struct process *process, struct loop *loop, const struct process_spec *spec,
		  struct err *err)
{
	int out = -1, r;

	process->pid = start(spec, &out, err);
	if (process->pid < 0) {
		process->pid = 0;
		return -err->code;
	}
	process->loop = loop;
	process->out = (struct loop_source){ .fd = out, .on_event = on_out };
	process->end = (struct loop_source){ .fd = os_pidfd_open(process->pid),
					     .on_event = on_end };
	fcntl(out, F_SETFL, O_NONBLOCK);
	r = process->end.fd < 0 ? err_errno(err, -process->end.fd, "watching a process")
				: loop_add(loop, &process->out, LOOP_IN, err);
	if (r == 0)
		r = loop_add(loop, &process->end, LOOP_IN, err);
	if (r < 0)
		process_stop(process);
	return r;
}

void process_kill(struct process *process, int signal_no)
{
	if (process->pid > 0)
		kill(process->pid, signal_no);
}

void process_stop(struct process *process)
{
	if (process->pid <= 0)
		return;
	kill(process->pid, SIGKILL);
	waitpid(process->pid, &process->status, 0);
	forget(process);
}

int process_run(const struct process_spec *spec, struct str *out, struct err *err)
{
	enum { KEEP = 65536 };
	char buf[8192];
	int fd = -1, status = 0;
	pid_t pid = start(spec, &fd, err);
	ssize_t n;

	if (pid < 0)
		return (int)pid;
	while (fd >= 0 && ((n = read(fd, buf, sizeof(buf))) > 0 || (n < 0 && errno == EINTR))) {
		if (!out || n < 0)
			continue;
		if (out->len > 2 * KEEP) {
			memmove(out->s, out->s + out->len - KEEP, KEEP);
			out->len = KEEP;
		}
		str_addn(out, buf, (size_t)n);
	}
	close_ptr(&fd);
	status = os_await(pid);
	if (status < 0)
		return err_errno(err, -status, "waiting for a process");
	return os_exit_code(status);
}
