/* SPDX-License-Identifier: MIT */
/*
 * The conversation with wrapix-entry, over a socket that container relays into the machine: first until the
 * command runs, then for as long as it does. It takes one connection, the entrypoint's, which comes before
 * anything else runs inside. What comes from it says how the command is and nothing that we act on otherwise.
 *
 * A container that relays no sockets is told signals by name ('container kill'), and how the command ended is
 * what container itself ends with.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/path.h"
#include "engine/apple/machine.h"
#include "entry/link.h"
#include "os/darwin/container.h"
#include "os/proc.h"
#include "os/signals.h"
#include "plan/apple.h"

#define EXIT_STATUS(code) (((code)&0xff) << 8) /* as wait() has it */
#define STEP_MS 50

static struct machine *machine(struct sandbox *sandbox)
{
	return container_of(sandbox, struct machine, sandbox);
}

/* 1, 0 when there is none now, -EPIPE when there will be none. */
static int receive(struct machine *m, struct link_message *ret)
{
	ssize_t n = recv(m->sandbox.control, ret, sizeof(*ret), MSG_PEEK | MSG_DONTWAIT);

	if (n == sizeof(*ret))
		n = recv(m->sandbox.control, ret, sizeof(*ret), 0);
	if (n == sizeof(*ret))
		return 1;
	return n == 1 || (n < 0 && (errno == EAGAIN || errno == EINTR)) ? 0 : -EPIPE;
}

static void send_message(struct machine *m, enum link_type type, int value)
{
	struct link_message message = { (unsigned char)type, (unsigned char)value };

	if (send(m->sandbox.control, &message, sizeof(message), MSG_NOSIGNAL) < 0)
		return; /* the machine is gone, which its end will say */
}

static int await_client(struct machine *m)
{
	int status = m->sandbox.pid > 0 ? os_await(m->sandbox.pid) : 0;

	m->sandbox.pid = 0;
	return status;
}

/* --- until the command runs --- */

static int no_machine(struct machine *m, struct err *err)
{
	int status = await_client(m);

	err_set(err, EIO, "container did not start the machine (status %d)",
		WIFEXITED(status) ? WEXITSTATUS(status) : status);
	return err_hint(err, "what container said is above; 'wrapix doctor' looks for reasons");
}

static int take_link(struct machine *m)
{
	int fd = accept(m->listener, NULL, NULL);

	if (fd < 0)
		return 0;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	close(take_fd(&m->listener));
	m->sandbox.control = fd;
	return 0;
}

/* There is nobody yet to pass a signal on to: one that ends programs ends the start. */
static int pending_end(void)
{
	static const int ends[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT };
	sigset_t pending, one;
	int signal_no;

	sigpending(&pending);
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (sigismember(&pending, ends[i])) {
			sigemptyset(&one);
			sigaddset(&one, ends[i]);
			return sigwait(&one, &signal_no) == 0 ? signal_no : 0;
		}
	return 0;
}

/* Negative: it failed. 1: the command runs. */
static int look(struct machine *m, bool client_ended, struct err *err)
{
	struct link_message message = { 0 };
	int r = 0;

	if (m->listener >= 0)
		take_link(m);
	if (m->listener < 0)
		r = receive(m, &message);
	if (r > 0 && message.type == LINK_RUNNING)
		return 1;
	if (r > 0 && message.type == LINK_HELLO) {
		machine_hide_env(m);
		send_message(m, LINK_GO, 0);
	}
	return client_ended || r < 0 ? no_machine(m, err) : 0;
}

static int await(struct machine *m, int *ret_status, struct err *err)
{
	for (;;) {
		struct pollfd fds[] = {
			{ .fd = m->listener >= 0 ? m->listener : m->sandbox.control,
			  .events = POLLIN },
			{ .fd = m->sandbox.pidfd, .events = POLLIN },
		};
		int r;

		if (poll(fds, ARRAY_LEN(fds), STEP_MS) < 0 && errno != EINTR)
			return err_errno(err, errno, "waiting for container");
		r = look(m, fds[1].revents != 0, err);
		if (r != 0)
			return r;
		*ret_status = pending_end();
		if (*ret_status)
			return 0;
	}
}

/* Without a link there is nothing to wait for; 'control' is an end of a pair that nobody writes to. */
static int be_silent(struct machine *m, struct err *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		return err_errno(err, errno, "watching the machine");
	fcntl(pair[0], F_SETFD, FD_CLOEXEC);
	fcntl(pair[1], F_SETFD, FD_CLOEXEC);
	m->sandbox.control = pair[0];
	m->silence = pair[1];
	return 1;
}

int machine_await(struct machine *m, int *ret_status, struct err *err)
{
	const struct plan *plan = m->sandbox.plan;
	struct err ignored; /* the next start tries again */
	int r = plan->apple.relays ? await(m, ret_status, err) : be_silent(m, err);

	if (r == 0) {
		os_pidfd_kill(m->sandbox.pidfd, SIGTERM);
		await_client(m);
		(void)container_remove(plan->apple.program,
				       arena_printf(&m->arena, "wrapix-%s", m->id), &ignored);
	}
	return r;
}

/* --- while it runs --- */

static int hear(struct sandbox *sandbox, struct said *ret)
{
	struct link_message message;
	int r = receive(machine(sandbox), &message);

	if (r <= 0)
		return r < 0 ? r : -EAGAIN;
	*ret = (struct said){
		.type = message.type == LINK_STOPPED     ? SAID_STOPPED
			: message.type == LINK_CONTINUED ? SAID_CONTINUED
			: message.type == LINK_EXITED    ? SAID_EXITED
							 : SAID_NOTHING,
		.value = message.type == LINK_EXITED ? EXIT_STATUS(message.value) : message.value,
	};
	return 0;
}

static const struct {
	int here, inside; /* the numbers are Linux's inside, and not the same on a Mac */
	const char *name;
} numbers[] = {
	{ SIGHUP, 1, "HUP" },    { SIGINT, 2, "INT" },    { SIGQUIT, 3, "QUIT" },
	{ SIGUSR1, 10, "USR1" }, { SIGUSR2, 12, "USR2" }, { SIGALRM, 14, "ALRM" },
	{ SIGTERM, 15, "TERM" }, { SIGCONT, 18, "CONT" }, { SIGSTOP, 19, "STOP" },
};

/* By name, in a process of its own that nobody waits for. */
static void kill_by_name(struct machine *m, const char *name)
{
	char *argv[] = { m->sandbox.plan->apple.program,
			 (char *)"kill",
			 (char *)"--signal",
			 (char *)name,
			 arena_printf(&m->arena, "wrapix-%s", m->id),
			 NULL };
	pid_t pid = fork();

	if (pid == 0) {
		os_reset_signals();
		os_close_all_but(3, NULL, 0);
		if (fork() == 0)
			execv(argv[0], argv);
		_exit(0);
	}
	(void)os_await(pid);
}

/* A command of ours would have inherited what we ignore; one in a machine does not. */
static void deliver(struct sandbox *sandbox, int signal_no)
{
	struct machine *m = machine(sandbox);

	for (size_t i = 0; i < ARRAY_LEN(numbers) && !os_signal_is_ignored(signal_no); i++) {
		if (numbers[i].here != signal_no)
			continue;
		if (m->silence >= 0)
			kill_by_name(m, numbers[i].name);
		else
			send_message(m, LINK_SIGNAL, numbers[i].inside);
	}
}

/* Without a link what container ends with is the command's, if that was started; with one it has said how it
 * ended, or was killed. */
static int reap(struct sandbox *sandbox, int *ret_status, struct err *err)
{
	struct machine *m = machine(sandbox);

	if (m->silence >= 0 && access(path_join(&m->arena, m->stage, "said/" APPLE_MARK), F_OK) < 0)
		return no_machine(m, err);
	*ret_status = await_client(m);
	if (m->silence < 0)
		*ret_status = SIGKILL;
	return 0;
}

const struct sandbox_link apple_link = {
	.hear = hear,
	.deliver = deliver,
	.reap = reap,
	.guests = &machine_guests,
};
