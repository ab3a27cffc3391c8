/* SPDX-License-Identifier: MIT */
/*
 * The supervisor's loop while a sandbox lives: signals go in, stops and the end come out, the
 * terminal's bytes go both ways. The command may end in its own time after a signal; only the death
 * of PID 1 ends the loop. Or that the command was the last one inside: the kernel takes the mounts down
 * with PID 1, which takes longer than all that is left to do here, and whoever started us may wait for
 * that later.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>

#include "engine/sandbox.h"
#include "engine/terminal.h"
#include "os/loop.h"
#include "os/proc.h"
#include "os/signals.h"

#define PAUSE_MS 300

struct supervisor {
	struct loop loop;
	struct sandbox *sandbox;
	struct loop_source signals, control, death;
	struct terminal terminal;
	bool has_terminal;
	void *guests;
	int stopped;  /* the signal that stopped the command, 0 while it runs */
	int status;   /* the command's wait status, -1 until it ended */
	bool is_left; /* PID 1 is alone, and left to end by itself */
};

struct engine_live {
	struct supervisor *supervisor;
};

static const int forwarded[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM };

/* The listener's own guests come and go with the loop. */
static void tell_loop(struct supervisor *s, struct loop *loop)
{
	const struct engine_hooks *hooks = s->sandbox->hooks;

	if (hooks && hooks->on_loop)
		hooks->on_loop(hooks->ctx, loop);
}

static void tell_live(struct supervisor *s, struct engine_live *live)
{
	const struct engine_hooks *hooks = s->sandbox->hooks;

	if (hooks && hooks->on_live)
		hooks->on_live(hooks->ctx, live);
}

int engine_set_rules(struct engine_live *live, const struct engine_rules *rules, struct err *err)
{
	struct supervisor *s = live->supervisor;

	return s->sandbox->link->guests->set_rules(s->guests, rules, err);
}

static void end_now(struct sandbox *sandbox)
{
	if (sandbox->link->kill)
		sandbox->link->kill(sandbox);
	else
		os_pidfd_kill(sandbox->pidfd, SIGKILL);
}

void engine_kill(struct engine_live *live)
{
	end_now(live->supervisor->sandbox);
}

static void deliver(struct supervisor *s, int signal_no)
{
	s->sandbox->link->deliver(s->sandbox, signal_no);
}

static void command_ended(struct supervisor *s, int status)
{
	const struct sandbox_guests *guests = s->sandbox->link->guests;

	s->status = status;
	if (s->guests && guests->ended)
		guests->ended(s->guests, status);
	if (s->sandbox->link->let_go)
		s->sandbox->link->let_go(s->sandbox);
	sandbox_tell(s->sandbox, EVENT_EXITED, status);
}

static bool stays(const struct supervisor *s)
{
	return s->sandbox->hooks && s->sandbox->hooks->stays;
}

/* Stops with the command, so that the user's shell sees a stopped job, and goes on with it. */
static void suspend(struct supervisor *s)
{
	sandbox_tell(s->sandbox, EVENT_STOPPED, s->stopped);
	s->stopped = 0;
	if (stays(s))
		return;
	if (s->has_terminal)
		terminal_suspend(&s->terminal);
	raise(SIGSTOP);
	if (s->has_terminal)
		terminal_resume(&s->terminal);
	deliver(s, SIGCONT);
	sandbox_tell(s->sandbox, EVENT_CONTINUED, 0);
}

/* Whoever continued it while we did not look will not continue us: there may be more to hear first. */
static bool is_still_stopped(const struct supervisor *s)
{
	struct pollfd more = { .fd = s->control.fd, .events = POLLIN };

	return s->stopped && poll(&more, 1, 0) == 0;
}

static int on_signal(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	struct supervisor *s = container_of(source, struct supervisor, signals);
	int signal_no = os_signals_next(source->fd);

	if (!signal_no)
		return 0;
	if (signal_no == SIGWINCH && s->has_terminal)
		terminal_resize(&s->terminal);
	else if (signal_no == SIGCONT && stays(s))
		deliver(s, SIGCONT);
	else if (signal_no == SIGCONT && s->has_terminal)
		terminal_resume(&s->terminal);
	else if (signal_no == SIGTSTP)
		deliver(s, SIGSTOP);
	for (size_t i = 0; i < ARRAY_LEN(forwarded); i++)
		if (signal_no == forwarded[i])
			deliver(s, forwarded[i]);
	return 0;
}

static int on_control(struct loop_source *source, _unused_ uint32_t events,
		      _unused_ struct err *err)
{
	struct supervisor *s = container_of(source, struct supervisor, control);
	struct said said = { .type = SAID_NOTHING };
	int r = s->sandbox->link->hear(s->sandbox, &said);

	if (r < 0 && r != -EAGAIN)             /* half of it may be there */
		loop_remove(&s->loop, source); /* its death is reported by the pidfd */
	else if (said.type != SAID_NOTHING)
		s->stopped = said.type == SAID_STOPPED ? said.value : 0;
	if (said.type == SAID_EXITED)
		command_ended(s, said.value);
	if (is_still_stopped(s))
		suspend(s);
	if (said.type == SAID_EXITED && said.last && s->sandbox->leaves)
		s->is_left = s->loop.done = true;
	return 0;
}

static int on_death(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	struct supervisor *s = container_of(source, struct supervisor, death);

	s->loop.done = true;
	return 0;
}

void supervised_signals(sigset_t *ret)
{
	/* Using the terminal from the background is an error to handle, not a stop. */
	static const int others[] = { SIGWINCH, SIGTSTP, SIGCONT, SIGTTIN, SIGTTOU };

	sigemptyset(ret);
	for (size_t i = 0; i < ARRAY_LEN(forwarded); i++)
		sigaddset(ret, forwarded[i]);
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		sigaddset(ret, others[i]);
}

static int watch_signals(struct supervisor *s, sigset_t *ret_old, struct err *err)
{
	sigset_t set;

	supervised_signals(&set);
	sigprocmask(SIG_BLOCK, &set, ret_old);
	s->signals = (struct loop_source){
		.fd = os_signals_open(&set),
		.on_event = on_signal,
	};
	if (s->signals.fd < 0)
		return err_errno(err, errno, "watching signals");
	return loop_add(&s->loop, &s->signals, LOOP_IN, err);
}

static int start_terminal(struct supervisor *s, struct err *err)
{
	const struct engine_hooks *hooks = s->sandbox->hooks;
	int master = take_fd(&s->sandbox->pty_master);

	if (hooks && hooks->take_terminal) {
		hooks->take_terminal(hooks->ctx, master);
		return 0;
	}
	if (hooks) {
		s->terminal.tap = hooks->on_terminal;
		s->terminal.tap_ctx = hooks->ctx;
	}
	s->has_terminal = true;
	return terminal_start(&s->terminal, &s->loop, master, s->sandbox->plan->tty, err);
}

static int start(struct supervisor *s, sigset_t *ret_old, struct err *err)
{
	struct sandbox *sandbox = s->sandbox;
	int r = loop_init(&s->loop, err);

	if (r == 0)
		r = watch_signals(s, ret_old, err);
	s->control = (struct loop_source){ .fd = sandbox->control, .on_event = on_control };
	s->death = (struct loop_source){ .fd = sandbox->pidfd, .on_event = on_death };
	if (r == 0)
		r = loop_add(&s->loop, &s->control, LOOP_IN, err);
	if (r == 0)
		r = loop_add(&s->loop, &s->death, LOOP_IN, err);
	if (r == 0)
		r = sandbox->link->guests->start(sandbox, &s->loop, &s->guests, err);
	return r == 0 && sandbox->pty_master >= 0 ? start_terminal(s, err) : r;
}

/* Nobody inside runs any more. What they have left for us to do is done; nothing is waited for. */
static int serve_rest(struct supervisor *s, struct err *err)
{
	s->loop.done = false;
	return MIN(loop_run(&s->loop, 0, err), 0);
}

/* PID 1 says how the command ended just before its own end; both may be there in one round. */
static int end(struct supervisor *s, struct err *err)
{
	struct sandbox *sandbox = s->sandbox;
	struct said said;
	int status, r;

	if (s->is_left)
		return serve_rest(s, err);
	r = sandbox->link->reap(sandbox, &status, err);
	while (s->status < 0 && sandbox->link->hear(sandbox, &said) == 0)
		if (said.type == SAID_EXITED)
			command_ended(s, said.value);
	if (s->status >= 0)
		return 0;
	if (r == 0)
		command_ended(s, status);
	return r;
}

/* The first pause says that the start is over for good. */
static int run_loop(struct supervisor *s, struct err *err)
{
	int r = loop_run(&s->loop, PAUSE_MS, err);

	if (r <= 0)
		return r;
	sandbox_tell(s->sandbox, EVENT_QUIET, 0);
	return loop_run(&s->loop, -1, err);
}

int supervise(struct sandbox *sandbox, int *ret_status, struct err *err)
{
	struct supervisor s = {
		.sandbox = sandbox,
		.loop.fd = -1,
		.signals.fd = -1,
		.status = -1,
	};
	struct engine_live live = { .supervisor = &s };
	sigset_t old;
	int r;

	sigprocmask(SIG_BLOCK, NULL, &old);
	r = start(&s, &old, err);
	if (r == 0) {
		tell_loop(&s, &s.loop);
		tell_live(&s, &live);
		sandbox_tell(sandbox, EVENT_STARTED, (int)sandbox->pid);
		if (sandbox->link->guests->started)
			sandbox->link->guests->started(s.guests);
		r = run_loop(&s, err);
	}
	if (r < 0)
		end_now(sandbox);
	if (s.has_terminal)
		terminal_stop(&s.terminal);
	if (r == 0)
		r = end(&s, err);
	if (s.guests)
		sandbox->link->guests->stop(s.guests);
	tell_live(&s, NULL);
	tell_loop(&s, NULL);
	if (s.signals.fd >= 0)
		close(s.signals.fd);
	loop_release(&s.loop);
	sigprocmask(SIG_SETMASK, &old, NULL);
	if (r == 0)
		*ret_status = s.status;
	return r;
}
