/* SPDX-License-Identifier: MIT */
/*
 * Carries bytes between the user's terminal, in raw mode, and the sandbox's own. Raw: Ctrl-C and
 * Ctrl-Z are bytes here and become signals in the line discipline inside, for the process group
 * that is in the foreground there. A direction stops reading while its bytes wait to be written.
 */
#include "engine/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#include "os/timer.h"

enum { FLOW_OK, FLOW_END };

/* How long the terminal may take for bytes of ours, and for an answer to what the program asked. */
#define WRITE_MS 1000
#define LATE_MS 200

static int flow_read(struct flow *flow, int fd)
{
	ssize_t n;

	if (flow->len > flow->at)
		return FLOW_OK;
	n = read(fd, flow->bytes, sizeof(flow->bytes));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return FLOW_OK;
	if (n <= 0)
		return FLOW_END; /* EIO: the last process inside closed its side */
	flow->at = 0;
	flow->len = (size_t)n;
	return FLOW_OK;
}

static int flow_write(struct flow *flow, int fd)
{
	while (flow->at < flow->len) {
		ssize_t n = write(fd, flow->bytes + flow->at, flow->len - flow->at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return FLOW_OK;
		if (n < 0)
			return FLOW_END;
		flow->at += (size_t)n;
	}
	return FLOW_OK;
}

static bool waiting(const struct flow *flow)
{
	return flow->at < flow->len;
}

static int show(struct terminal *t)
{
	size_t from = t->out.at;
	int r = flow_write(&t->out, t->tty.fd);

	leftover_output(&t->leftover, t->out.bytes + from, t->out.at - from, os_now_ms());
	return r;
}

/* Reads, where nothing waits to be written, and shows what is new. */
static int read_shown(struct terminal *t, struct flow *flow, int fd)
{
	bool fresh = !waiting(flow);
	int r = flow_read(flow, fd);

	if (fresh && flow == &t->in)
		leftover_input(&t->leftover, flow->bytes + flow->at, flow->len - flow->at);
	if (t->tap && fresh && waiting(flow))
		t->tap(t->tap_ctx, flow == &t->in, flow->bytes, flow->len);
	return r;
}

/* Only what is new: to ask again for an edge is to get it again. */
static int watch(struct terminal *t, struct loop_source *source, uint32_t *now, uint32_t events,
		 struct err *err)
{
	if (source->fd < 0 || *now == events)
		return 0;
	*now = events;
	return loop_change(t->loop, source, events, err);
}

/* Reads where there is room, writes where something waits. In the background keys are somebody
 * else's: each new one is a reason to look whether they still are, for no shell tells a running job
 * that it has come to the foreground. */
static int update(struct terminal *t, struct err *err)
{
	uint32_t user = 0, master = 0;
	int r;

	if (t->has_input && !t->user_gone && !waiting(&t->in))
		user |= t->foreground ? LOOP_IN : LOOP_IN | LOOP_EDGE;
	if (waiting(&t->out))
		user |= LOOP_OUT;
	if (!waiting(&t->out))
		master |= LOOP_IN;
	if (waiting(&t->in))
		master |= LOOP_OUT;
	r = watch(t, &t->user, &t->user_events, user, err);
	return r == 0 ? watch(t, &t->master, &t->master_events, master, err) : r;
}

static void drop_master(struct terminal *t)
{
	close_ptr(&t->peer);
	loop_remove(t->loop, &t->master);
	close_ptr(&t->master.fd);
}

/* A job in the background must leave the terminal alone: setting or reading it would stop us. */
static void take_keys(struct terminal *t)
{
	t->foreground = tcgetpgrp(t->tty.fd) == getpgrp();
	if (t->has_input && t->foreground)
		tty_raw(&t->tty);
}

static int on_user(struct loop_source *source, uint32_t events, struct err *err)
{
	struct terminal *t = container_of(source, struct terminal, user);

	if ((events & LOOP_IN) && !t->foreground)
		take_keys(t);
	if ((events & LOOP_IN) && t->foreground && read_shown(t, &t->in, t->tty.fd) == FLOW_END)
		t->user_gone = true;
	if (events & (LOOP_HUP | LOOP_ERR)) {
		/* The terminal was closed: so is the sandbox's, and the kernel tells those inside. */
		drop_master(t);
		loop_remove(t->loop, &t->user);
		t->user.fd = -1;
		t->user_gone = true;
		t->out.len = t->out.at = 0;
	}
	if ((events & LOOP_OUT) && show(t) == FLOW_END)
		t->out.len = t->out.at = 0;
	if (t->master.fd >= 0 && waiting(&t->in) && flow_write(&t->in, t->master.fd) == FLOW_END)
		t->in.len = t->in.at = 0;
	return update(t, err);
}

/* "cat x | wrapix run -- less": standard input is a pipe, and the program reads its keys from
 * /dev/tty. It shows that it does by taking line editing off. */
static void follow_mode(struct terminal *t)
{
	struct termios inner;
	bool wants_keys;

	if (t->std_input || t->master.fd < 0 || tcgetattr(t->master.fd, &inner) < 0)
		return;
	wants_keys = !(inner.c_lflag & ICANON);
	if (wants_keys == t->has_input)
		return;
	t->has_input = wants_keys;
	if (wants_keys)
		take_keys(t);
	else
		tty_restore(&t->tty);
}

static int on_master(struct loop_source *source, uint32_t events, struct err *err)
{
	struct terminal *t = container_of(source, struct terminal, master);
	bool ended = false;

	if (events & LOOP_OUT)
		flow_write(&t->in, t->master.fd);
	if (events & (LOOP_IN | LOOP_HUP | LOOP_ERR))
		ended = read_shown(t, &t->out, t->master.fd) == FLOW_END;
	if (t->user.fd < 0 || show(t) == FLOW_END)
		t->out.len = t->out.at = 0;
	if (ended && !waiting(&t->out))
		drop_master(t);
	follow_mode(t);
	return update(t, err);
}

int terminal_start(struct terminal *t, struct loop *loop, int master_fd, const bool std_tty[3],
		   struct err *err)
{
	int std_fd = std_tty[0] ? 0 : std_tty[1] ? 1 : 2;
	int r = tty_open(&t->tty, std_fd, err);

	t->loop = loop;
	t->has_input = t->std_input = std_tty[0];
	t->user_gone = false;
	t->in.at = t->in.len = t->out.at = t->out.len = 0;
	t->leftover = (struct leftover){ 0 };
	t->user = (struct loop_source){ .fd = t->tty.fd, .on_event = on_user };
	t->master = (struct loop_source){ .fd = master_fd, .on_event = on_master };
	t->peer = tty_peer(master_fd);
	fcntl(master_fd, F_SETFL, O_NONBLOCK);
	if (r < 0)
		return r;
	tty_copy_size(&t->tty, master_fd); /* it may have changed since the child looked */
	take_keys(t);
	t->user_events = 0;
	t->master_events = LOOP_IN;
	r = loop_add(loop, &t->user, t->user_events, err);
	if (r == 0)
		r = loop_add(loop, &t->master, t->master_events, err);
	return r == 0 ? update(t, err) : r;
}

void terminal_resize(struct terminal *t)
{
	if (t->master.fd >= 0)
		tty_copy_size(&t->tty, t->master.fd);
}

static bool terminal_is(const struct terminal *t, short events, int patience_ms)
{
	struct pollfd user = { .fd = t->tty.fd, .events = events };

	return poll(&user, 1, patience_ms) > 0 && user.revents & events;
}

/* What waits is written; false where the terminal does not take it. */
static bool show_all(struct terminal *t)
{
	while (waiting(&t->out))
		if (!terminal_is(t, POLLOUT, WRITE_MS) || show(t) == FLOW_END)
			return false;
	return true;
}

/* Writes out what the sandbox has written so far. */
static bool flush_output(struct terminal *t)
{
	bool shown = true;

	while (shown && t->master.fd >= 0 && t->user.fd >= 0) {
		shown = show_all(t);
		if (shown && (flow_read(&t->out, t->master.fd) == FLOW_END || !waiting(&t->out)))
			break;
	}
	return shown;
}

void terminal_suspend(struct terminal *t)
{
	flush_output(t);
	tty_restore(&t->tty);
}

void terminal_resume(struct terminal *t)
{
	struct err ignored; /* the descriptors are in the loop already */

	take_keys(t);
	terminal_resize(t);
	(void)update(t, &ignored);
}

/* What comes now was meant for the program; the user's shell would take it as typed. */
static void drop_input(struct terminal *t)
{
	int64_t end = os_now_ms() + LATE_MS, now;

	while (leftover_expects(&t->leftover, now = os_now_ms()) && now < end &&
	       terminal_is(t, POLLIN, (int)(end - now))) {
		t->in.at = t->in.len = 0;
		if (flow_read(&t->in, t->tty.fd) == FLOW_END)
			break;
		leftover_input(&t->leftover, t->in.bytes, t->in.len);
	}
	tcflush(t->tty.fd, TCIFLUSH);
}

/* The user's shell gets a terminal that is as the program found it. */
static void tidy(struct terminal *t)
{
	bool listens = leftover_talks(&t->leftover) || leftover_expects(&t->leftover, os_now_ms());

	t->out.at = 0;
	t->out.len = leftover_undo(&t->leftover, (unsigned int)tty_size(t->tty.fd) >> 16,
				   t->out.bytes);
	if (show_all(t) && listens && t->tty.raw && tcgetpgrp(t->tty.fd) == getpgrp())
		drop_input(t);
}

void terminal_stop(struct terminal *t)
{
	/* Every process inside is dead: what is still in the pty is all there will ever be. */
	close_ptr(&t->peer);
	if (t->user.fd >= 0 && flush_output(t))
		tidy(t);
	drop_master(t);
	loop_remove(t->loop, &t->user);
	tty_close(&t->tty);
}
