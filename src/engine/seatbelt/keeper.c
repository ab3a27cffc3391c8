/* SPDX-License-Identifier: MIT */
/* The process between the supervisor and a command under Seatbelt; see keeper.h. */
#include "engine/seatbelt/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "engine/command.h"
#include "engine/control.h"
#include "os/fs.h"
#include "os/proc.h"
#include "os/signals.h"
#include "spec/exec.h"

enum {
	TAIL_MS = 400,      /* for refusals that the log has not told of yet */
	QUIET_TAIL_MS = 60, /* the same of a command that went well */
};

/* Nothing of the supervisor's but what the keeper and the command need. */
static void close_others(const struct keeper *k, int signals)
{
	int keep[EXEC_PASS_MAX + 4];
	size_t n = 0;
	const int own[] = { k->control, k->slave, k->log_out, signals };

	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		if (own[i] >= 3)
			keep[n++] = own[i];
	for (size_t i = 0; i < k->n_pass_fds; i++)
		keep[n++] = k->pass_fds[i];
	os_close_all_but(3, keep, n);
}

static pid_t start_log(const struct keeper *k)
{
	pid_t pid = k->log_out < 0 ? 0 : fork();
	int null;

	if (pid != 0 || k->log_out < 0)
		return pid;
	setsid(); /* not one of the command's */
	os_reset_signals();
	null = open("/dev/null", O_RDWR);
	dup2(null, STDIN_FILENO);
	dup2(k->log_out, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	os_close_all_but(3, NULL, 0);
	execv(k->log_argv[0], k->log_argv);
	_exit(127);
}

_Noreturn static void become(const struct keeper *k)
{
	setpgid(0, 0);
	if (k->slave >= 0)
		tcsetpgrp(k->slave, getpid());
	for (int fd = 0; fd < 3; fd++)
		if (k->slave >= 0 && k->tty[fd])
			dup2(k->slave, fd);
	for (size_t i = 0; i < k->n_pass_fds; i++)
		fcntl(k->pass_fds[i], F_SETFD, 0);
	os_close_all_but(3, k->pass_fds, k->n_pass_fds);
	os_reset_signals();
	if (chdir(k->cwd) == 0)
		execve(k->argv[0], k->argv, k->env);
	_exit(EXIT_WRAPIX);
}

static pid_t start_command(const struct keeper *k)
{
	pid_t pid = fork();

	if (pid == 0)
		become(k);
	if (pid > 0)
		setpgid(pid, pid); /* whoever comes first */
	return pid;
}

/* The end of everything that is left. */
_Noreturn static void finish(const struct keeper *k, pid_t log, int tail_ms)
{
	struct pollfd gone = { .fd = k->control, .events = POLLIN };

	os_kill_session(getpid());
	if (log > 0 && tail_ms)
		(void)poll(&gone, 1, tail_ms);
	if (log > 0)
		kill(log, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	if (k->tmpdir)
		(void)os_remove_tree(AT_FDCWD, k->tmpdir);
	_exit(0);
}

/* Once the command has ended, how long to wait for the log; else -1. */
static int reap(const struct keeper *k, pid_t command)
{
	int status;

	while (reap_command(command, &status)) {
		if (control_send_pause(k->control, status))
			continue;
		control_send(k->control, CONTROL_EXITED, status, -1);
		return WIFEXITED(status) && !WEXITSTATUS(status) ? QUIET_TAIL_MS : TAIL_MS;
	}
	return -1;
}

/* As with the other engines; and the end is for all of them. */
static void deliver(pid_t command, int signal_no)
{
	if (signal_no == SIGKILL)
		kill(-command, SIGKILL);
	else
		signal_command(command, signal_no);
}

_Noreturn static void keep(const struct keeper *k, pid_t command, pid_t log, int signals)
{
	struct pollfd fds[] = { { .fd = k->control, .events = POLLIN },
				{ .fd = signals, .events = POLLIN } };
	struct control message;
	int tail_ms;

	for (;;) {
		if (poll(fds, ARRAY_LEN(fds), -1) < 0 && errno != EINTR)
			finish(k, log, 0);
		while (os_signals_next(signals))
			;
		tail_ms = reap(k, command);
		if (tail_ms >= 0)
			finish(k, log, tail_ms);
		if (!fds[0].revents)
			continue;
		if (control_receive(k->control, &message, NULL) < 0)
			finish(k, log, 0); /* the supervisor is dead */
		if (message.type == CONTROL_SIGNAL)
			deliver(command, message.value);
	}
}

_Noreturn void keeper_main(const struct keeper *k)
{
	struct control message;
	pid_t log, command;
	sigset_t all;
	int signals;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	if (k->slave >= 0)
		ioctl(k->slave, TIOCSCTTY, 0);
	signals = os_signals_open(&all);
	close_others(k, signals);
	log = start_log(k);
	if (signals < 0 || control_receive(k->control, &message, NULL) < 0 ||
	    message.type != CONTROL_GO)
		finish(k, log, 0);
	command = start_command(k);
	if (command < 0)
		finish(k, log, 0);
	keep(k, command, log, signals);
}

/* --- the supervisor's side --- */

static int hear(struct sandbox *sandbox, struct said *ret)
{
	struct control message;
	int r = control_receive(sandbox->control, &message, NULL);

	if (r == 0)
		*ret = (struct said){ .type = message.type == CONTROL_STOPPED     ? SAID_STOPPED
					      : message.type == CONTROL_CONTINUED ? SAID_CONTINUED
					      : message.type == CONTROL_EXITED    ? SAID_EXITED
										  : SAID_NOTHING,
				      .value = message.value };
	return r;
}

static void send_signal(struct sandbox *sandbox, int signal_no)
{
	control_send(sandbox->control, CONTROL_SIGNAL, signal_no, -1);
}

static void end(struct sandbox *sandbox)
{
	send_signal(sandbox, SIGKILL);
}

/* Somebody may have killed the keeper itself: what it kept ends here then. */
static int reap_keeper(struct sandbox *sandbox, int *ret_status, struct err *err)
{
	pid_t pid = sandbox->pid;
	int status = os_await(pid);

	sandbox->pid = 0;
	if (status < 0 || !WIFSIGNALED(status))
		return err_set(err, ECHILD, "the keeper of the command ended unexpectedly");
	os_kill_session(pid);
	*ret_status = status;
	return 0;
}

const struct sandbox_link keeper_link = {
	.hear = hear,
	.deliver = send_signal,
	.reap = reap_keeper,
	.kill = end,
	.guests = &seatbelt_guests,
};
