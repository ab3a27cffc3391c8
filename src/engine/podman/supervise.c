/* SPDX-License-Identifier: MIT */
/*
 * The loop while a podman sandbox lives. Signals go to wrapix-init through its FIFO, stops and the end come
 * back through the other, the terminal's bytes pass through a pty whose other side podman has. What comes
 * from the FIFO was written inside: it says how the command ended and nothing that we act on otherwise.
 */
#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include "engine/native/keys.h"
#include "engine/native/terminal.h"
#include "engine/podman/container.h"
#include "os/loop.h"
#include "os/proc.h"

struct supervisor {
	struct loop loop;
	struct container *c;
	struct loop_source signals, from, death;
	struct terminal terminal;
	bool has_terminal;
	struct key_agent keys;
	bool go;    /* wrapix-init starts the command, and takes signals once it has */
	int status; /* the command's wait status, -1 until it ended */
	struct err failure;
};

static void tell(struct supervisor *s, enum engine_event event, int value)
{
	const struct engine_hooks *hooks = s->c->sandbox.hooks;

	if (hooks && hooks->on_event)
		hooks->on_event(hooks->ctx, event, value);
}

static void tell_loop(struct supervisor *s, struct loop *loop)
{
	const struct engine_hooks *hooks = s->c->sandbox.hooks;

	if (hooks && hooks->on_loop)
		hooks->on_loop(hooks->ctx, loop);
}

static void send_message(struct supervisor *s, enum stage_type type, int value)
{
	struct stage_message message = { .type = type, .value = value };

	/* A full FIFO has signals enough in it. */
	if (write(s->c->to, &message, sizeof(message)) < 0)
		return;
}

/* Stops with the command, so that the user's shell sees a stopped job, and goes on with it. */
static void suspend(struct supervisor *s, int signal_no)
{
	tell(s, EVENT_STOPPED, signal_no);
	if (s->has_terminal)
		terminal_suspend(&s->terminal);
	raise(SIGSTOP);
	if (s->has_terminal)
		terminal_resume(&s->terminal);
	send_message(s, STAGE_SIGNAL, SIGCONT);
	tell(s, EVENT_CONTINUED, 0);
}

/* Before the command runs there is nobody to pass a signal on to: it ends the start. */
static void end_start(struct supervisor *s, int signal_no)
{
	if (signal_no != SIGTERM && signal_no != SIGINT && signal_no != SIGHUP &&
	    signal_no != SIGQUIT)
		return;
	s->status = signal_no;
	s->loop.done = true;
}

static int on_signal(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	struct supervisor *s = container_of(source, struct supervisor, signals);
	struct signalfd_siginfo info;
	int signal_no;

	if (read(source->fd, &info, sizeof(info)) != sizeof(info))
		return 0;
	signal_no = (int)info.ssi_signo;
	if (signal_no == SIGWINCH && s->has_terminal)
		terminal_resize(&s->terminal);
	else if (signal_no == SIGCONT && s->has_terminal)
		terminal_resume(&s->terminal);
	if (signal_no == SIGWINCH || signal_no == SIGCONT || signal_no == SIGTTIN ||
	    signal_no == SIGTTOU)
		return 0;
	if (!s->go)
		end_start(s, signal_no);
	else
		send_message(s, STAGE_SIGNAL, signal_no == SIGTSTP ? SIGSTOP : signal_no);
	return 0;
}

static void on_message(struct supervisor *s, struct stage_message *message)
{
	switch (message->type) {
	case STAGE_HELLO:
		stage_close(s->c);
		send_message(s, STAGE_GO, 0);
		s->go = true;
		break;
	case STAGE_STARTED:
		if (!s->c->started)
			tell(s, EVENT_STARTED, (int)s->c->sandbox.pid);
		s->c->started = true;
		break;
	case STAGE_FAILED:
		s->failure = message->err;
		s->failure.msg[sizeof(s->failure.msg) - 1] = '\0';
		s->failure.hint[sizeof(s->failure.hint) - 1] = '\0';
		break;
	case STAGE_STOPPED:
		if (s->c->started)
			suspend(s, message->value);
		break;
	case STAGE_EXITED:
		if (s->status < 0 && s->c->started) {
			s->status = message->value & 0xffff;
			tell(s, EVENT_EXITED, s->status);
		}
		break;
	default:
		break;
	}
}

static int on_from(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	struct supervisor *s = container_of(source, struct supervisor, from);
	struct stage_message message;
	ssize_t n = read(source->fd, &message, sizeof(message));

	if (n == sizeof(message))
		on_message(s, &message);
	else if (n >= 0 || errno != EAGAIN)
		loop_remove(&s->loop, source); /* podman says the end */
	return 0;
}

static int on_death(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	container_of(source, struct supervisor, death)->loop.done = true;
	return 0;
}

static int start(struct supervisor *s, sigset_t *ret_old, struct err *err)
{
	struct sandbox *sandbox = &s->c->sandbox;
	sigset_t set;
	int r = loop_init(&s->loop, err);

	supervised_signals(&set);
	sigprocmask(SIG_BLOCK, &set, ret_old);
	s->signals = (struct loop_source){
		.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK),
		.on_event = on_signal,
	};
	s->from = (struct loop_source){ .fd = s->c->from, .on_event = on_from };
	s->death = (struct loop_source){ .fd = sandbox->pidfd, .on_event = on_death };
	if (r == 0 && s->signals.fd < 0)
		r = err_errno(err, errno, "signalfd");
	if (r == 0)
		r = loop_add(&s->loop, &s->signals, EPOLLIN, err);
	if (r == 0)
		r = loop_add(&s->loop, &s->from, EPOLLIN, err);
	if (r == 0)
		r = loop_add(&s->loop, &s->death, EPOLLIN, err);
	if (r == 0)
		r = keys_serve(&s->keys, &s->loop, sandbox, err);
	if (r == 0 && sandbox->pty_master >= 0) {
		if (sandbox->hooks) {
			s->terminal.tap = sandbox->hooks->on_terminal;
			s->terminal.tap_ctx = sandbox->hooks->ctx;
		}
		r = terminal_start(&s->terminal, &s->loop, take_fd(&sandbox->pty_master),
				   sandbox->plan->tty, err);
		s->has_terminal = true;
	}
	return r;
}

/* How it ended: as wrapix-init said, or, where that never came, as podman did. */
static int finish(struct supervisor *s, int client_status, int *ret_status, struct err *err)
{
	struct stage_message message;

	while (read(s->c->from, &message, sizeof(message)) == sizeof(message))
		if (message.type != STAGE_STOPPED)
			on_message(s, &message);
	if (s->failure.code && !s->c->started) {
		*err = s->failure;
		return -err->code;
	}
	if (s->status >= 0) {
		*ret_status = s->status;
		return 0;
	}
	if (!s->c->started) {
		image_doubt(s->c->sandbox.plan);
		err_set(err, EIO, "podman did not start the container (status %d)",
			WIFEXITED(client_status) ? WEXITSTATUS(client_status) : client_status);
		return err_hint(err,
				"what podman said is above; 'wrapix doctor' looks for reasons");
	}
	*ret_status = SIGKILL; /* all was killed: the user's doing, or memory's */
	tell(s, EVENT_EXITED, *ret_status);
	return 0;
}

/* wrapix-init ends when the FIFO does, and podman then removes the container and ends. */
static void await_client(struct supervisor *s, int *ret_status)
{
	if (!s->loop.done || s->status >= 0) {
		close(s->c->to);
		s->c->to = -1;
	}
	while (waitpid(s->c->sandbox.pid, ret_status, 0) < 0 && errno == EINTR)
		;
	s->c->sandbox.pid = 0;
}

int container_supervise(struct container *c, int *ret_status, struct err *err)
{
	struct supervisor s = { .c = c, .loop.fd = -1, .signals.fd = -1, .status = -1 };
	int r, client_status = 0;
	sigset_t old;

	r = start(&s, &old, err);
	if (r == 0) {
		tell_loop(&s, &s.loop);
		r = loop_run(&s.loop, -1, err);
	}
	if (s.has_terminal)
		terminal_stop(&s.terminal);
	await_client(&s, &client_status);
	if (r == 0)
		r = finish(&s, client_status, ret_status, err);
	key_agent_stop(&s.keys);
	tell_loop(&s, NULL);
	if (s.signals.fd >= 0)
		close(s.signals.fd);
	loop_release(&s.loop);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return r;
}
