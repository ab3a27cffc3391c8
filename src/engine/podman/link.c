/* SPDX-License-Identifier: MIT */
/*
 * The conversation with wrapix-init, through the two FIFOs: first until the command runs, then for as
 * long as it does. What comes from a FIFO was written inside: it says how the command ended and nothing
 * that we act on otherwise.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "engine/podman/container.h"
#include "os/proc.h"
#include "os/signals.h"
#include "os/tty.h"

static struct container *container(struct sandbox *sandbox)
{
	return container_of(sandbox, struct container, sandbox);
}

static void send_message(struct container *c, enum stage_type type, int value)
{
	struct stage_message message = { .type = type, .value = value };

	/* A full FIFO has signals enough in it. */
	if (write(c->to, &message, sizeof(message)) < 0)
		return;
}

/* 1, 0 when there is none now, -EPIPE when there will be none. */
static int receive(struct container *c, struct stage_message *ret)
{
	ssize_t n = read(c->sandbox.control, ret, sizeof(*ret));

	if (n == sizeof(*ret))
		return 1;
	return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -EPIPE;
}

/* --- until the command runs --- */

static int fail(const struct stage_message *message, struct err *err)
{
	*err = message->err;
	err->msg[sizeof(err->msg) - 1] = '\0';
	err->hint[sizeof(err->hint) - 1] = '\0';
	if (err->code > 0)
		return -err->code;
	err_set(err, EIO, "wrapix-init failed");
	return err_hint(err, "what podman said is above; 'wrapix doctor' looks for reasons");
}

/* Negative: it failed. 1: the command runs. */
static int on_start_message(struct container *c, const struct stage_message *message,
			    struct err *err)
{
	int r;

	switch (message->type) {
	case STAGE_HELLO:
		c->greeted = true;
		stage_close(c);
		r = container_enter(c, err);
		break;
	case STAGE_LISTENER:
		r = container_take_listener(c, message->value, err);
		break;
	case STAGE_STARTED:
		return 1;
	case STAGE_FAILED:
		c->exit = EXIT_WRAPIX;
		return fail(message, err);
	default:
		return 0;
	}
	if (r == 0)
		send_message(c, STAGE_GO, tty_size(c->sandbox.pty_master));
	return r;
}

/* What is there; podman may have ended since it was written. */
static int read_start_messages(struct container *c, struct err *err)
{
	struct stage_message message;
	int r = 0;

	while (r == 0 && receive(c, &message) > 0)
		r = on_start_message(c, &message, err);
	return r;
}

int client_await(struct container *c)
{
	int status;

	close_ptr(&c->to);
	status = os_await(c->sandbox.pid);
	c->sandbox.pid = 0;
	/* What podman says of its own failures is 125, or a signal's. */
	c->ended = c->exit >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == c->exit;
	return status;
}

static int no_container(struct container *c, struct err *err)
{
	int status = client_await(c);

	image_doubt(c->sandbox.plan);
	err_set(err, EIO, "podman did not start the container (status %d)",
		WIFEXITED(status) ? WEXITSTATUS(status) : status);
	if (c->sandbox.plan->cgroup.layout == CGROUP_LAYOUT_V1)
		return err_hint(err, "what podman said is above; this machine mounts cgroups v1, "
				     "which crun refuses beside v2: boot with "
				     "systemd.unified_cgroup_hierarchy=1");
	return err_hint(err, "what podman said is above; 'wrapix doctor' looks for reasons");
}

/* There is nobody yet to pass a signal on to: one that ends programs ends the start. */
static int take_signal(int fd)
{
	int n = os_signals_next(fd);

	return n == SIGTERM || n == SIGINT || n == SIGHUP || n == SIGQUIT ? n : 0;
}

static int await(struct container *c, int signals, int *ret_status, struct err *err)
{
	struct pollfd fds[] = {
		{ .fd = signals, .events = POLLIN },
		{ .fd = c->sandbox.control, .events = POLLIN },
		{ .fd = c->sandbox.pidfd, .events = POLLIN },
	};

	for (;;) {
		int r;

		if (poll(fds, ARRAY_LEN(fds), -1) < 0 && errno != EINTR)
			return err_errno(err, errno, "waiting for podman");
		r = plan_is_machine(c->sandbox.plan) ? machine_look(c, err)
						     : read_start_messages(c, err);
		if (r != 0)
			return r;
		if (fds[2].revents)
			return no_container(c, err);
		if (c->greeted) /* the command may run before we hear of it: its signals wait */
			fds[0].fd = -1;
		*ret_status = fds[0].fd >= 0 && fds[0].revents ? take_signal(signals) : 0;
		if (*ret_status)
			return 0;
	}
}

int container_await(struct container *c, int *ret_status, struct err *err)
{
	_cleanup_close_ int signals = -1;
	sigset_t set;
	int r;

	supervised_signals(&set);
	signals = os_signals_open(&set);
	if (signals < 0)
		return err_errno(err, errno, "watching signals");
	r = await(c, signals, ret_status, err);
	if (r == 0) /* podman ends what it is about, which may be a large image's first use */
		os_pidfd_kill(c->sandbox.pidfd, SIGTERM);
	if (r <= 0 && c->sandbox.pid)
		client_await(c);
	return r;
}

/* --- while it runs --- */

static int hear(struct sandbox *sandbox, struct said *ret)
{
	struct stage_message message;
	int r = receive(container(sandbox), &message);

	if (r <= 0)
		return r < 0 ? r : -EAGAIN;
	*ret = (struct said){
		.type = message.type == STAGE_STOPPED     ? SAID_STOPPED
			: message.type == STAGE_CONTINUED ? SAID_CONTINUED
			: message.type == STAGE_EXITED    ? SAID_EXITED
							  : SAID_NOTHING,
		.value = message.value & 0xffff,
	};
	if (ret->type == SAID_EXITED) { /* while podman takes the container down */
		container(sandbox)->exit = os_exit_code(ret->value); /* as podman ends, too */
		stage_empty(container(sandbox));
	}
	return 0;
}

/* A command of ours would have inherited what we ignore; one of podman's does not. */
static void deliver(struct sandbox *sandbox, int signal_no)
{
	if (!os_signal_is_ignored(signal_no))
		send_message(container(sandbox), STAGE_SIGNAL, signal_no);
}

static int reap(struct sandbox *sandbox, int *ret_status, _unused_ struct err *err)
{
	client_await(container(sandbox));
	*ret_status = SIGKILL; /* all was killed: the user's doing, or memory's */
	return 0;
}

const struct sandbox_link podman_link = {
	.hear = hear,
	.deliver = deliver,
	.reap = reap,
	.guests = &linux_guests,
};
