/* SPDX-License-Identifier: MIT */
/*
 * The relay.
 *
 * Each direction is a pump: look at what the near side has (MSG_PEEK), send as much as the far side
 * takes, and only then take that much away. Edge-triggered events on both sockets start the pumps;
 * a pump that stops early for fairness has its events armed again.
 *
 * A killed supervisor must not make a cut-off download look complete, so the sandbox's socket
 * lingers with zero seconds (its close is a reset) until an orderly end.
 *
 * What an attacker controls: both byte streams, and how many connections stall. Kernel memory per
 * stalled connection is bounded by the receive buffer and TCP_NOTSENT_LOWAT.
 */
#include "net/relay.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "net/hello.h"
#include "os/proc.h"
#include "os/socket.h"
#include "os/timer.h"

#define BUFFER_SIZE (256 * 1024)
#define CONNECTIONS_MAX 1024
#define DESCRIPTORS_KEPT 72 /* some 45 are in use before the first connection */
#define ROUNDS 8            /* buffers a pump moves before others get their turn */
#define HELLO_SECONDS 10
#define IDLE_MS 2000    /* for peers that take nothing, at the end of the sandbox */
#define FINISH_MS 10000 /* for those that take it slowly */
#define NOTSENT_LOWAT (128 * 1024)

struct pump {
	uint64_t moved;
	bool closing; /* its source has said that its end is near */
	bool eof, shut;
};

/* A TLS hello that is awaited, and the name it must have. */
struct pin {
	char name[NAME_SIZE];
	struct hello hello;
	int64_t deadline;
};

struct relay_conn {
	struct relay *relay;
	struct relay_conn *next, **link;
	struct loop_source inside, outside;
	struct pump up, down; /* from inside to outside, and back */
	struct pin *pin;      /* NULL once it was seen */
	void *tag;
};

static void set(int fd, int level, int option, int value)
{
	/* Comforts and memory bounds of a socket that works without them too. */
	(void)setsockopt(fd, level, option, &value, sizeof(value));
}

/* What one stalled connection may hold of the host's TCP memory, by how many there are. The kernel
 * tunes the buffers of a few for speed; of many it must not, and a window clamp does not stop it. */
static const struct {
	size_t conns;
	int bytes; /* the kernel doubles it; 0: leave it to the kernel */
} buffers[] = { { 16, 0 }, { 128, 200 * 1024 }, { 256, 64 * 1024 }, { SIZE_MAX, 32 * 1024 } };

static void bound_buffer(const struct relay *relay, int fd)
{
	size_t i = 0;

	while (relay->n_conns > buffers[i].conns)
		i++;
	if (buffers[i].bytes)
		set(fd, SOL_SOCKET, SO_RCVBUF, buffers[i].bytes);
}

void relay_prepare(int fd)
{
	set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	set(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, NOTSENT_LOWAT);
	os_socket_linger(fd, true);
}

static void end(struct relay_conn *conn, enum relay_end how)
{
	struct relay *relay = conn->relay;
	struct relay_stats stats = { .sent = conn->up.moved,
				     .received = conn->down.moved,
				     .end = how };

	if (how == RELAY_CLOSED) {
		os_socket_linger(conn->inside.fd, false);
		os_socket_linger(conn->outside.fd, false);
	}
	loop_remove(relay->loop, &conn->inside);
	loop_remove(relay->loop, &conn->outside);
	close(conn->inside.fd);
	close(conn->outside.fd);
	*conn->link = conn->next;
	if (conn->next)
		conn->next->link = conn->link;
	relay->n_conns--;
	relay->hooks.ended(relay->hooks.ctx, conn->tag, &stats);
	free(conn->pin);
	free(conn);
}

enum pump_result { PUMP_WAITS, PUMP_MORE, PUMP_BROKEN };

static enum pump_result pump(struct pump *pump, char *buffer, int from, int to)
{
	for (int round = 0; round < ROUNDS; round++) {
		ssize_t n, m;

		if (pump->eof)
			return PUMP_WAITS;
		n = recv(from, buffer, BUFFER_SIZE, MSG_PEEK | MSG_DONTWAIT);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR ? PUMP_WAITS : PUMP_BROKEN;
		if (n == 0) {
			pump->eof = true;
			if (shutdown(to, SHUT_WR) < 0 && errno != ENOTCONN)
				return PUMP_BROKEN;
			pump->shut = true;
			return PUMP_WAITS;
		}
		m = send(to, buffer, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (m < 0)
			return errno == EAGAIN || errno == EINTR ? PUMP_WAITS : PUMP_BROKEN;
		/* With MSG_TRUNC TCP drops the bytes without copying them again. */
		if (recv(from, buffer, (size_t)m, MSG_TRUNC | MSG_DONTWAIT) != m)
			return PUMP_BROKEN;
		pump->moved += (uint64_t)m;
		/* All that was there: what comes now is an event, and so is the end. */
		if (m == n && n < BUFFER_SIZE && !pump->closing)
			return PUMP_WAITS;
	}
	return PUMP_MORE;
}

/* The name in the TLS hello must be the one that the connection was allowed for. True when the
 * bytes may flow. The hello is peeked at: the pump sends it on. */
static bool check_hello(struct relay_conn *conn)
{
	struct pin *pin = conn->pin;
	size_t fed = pin->hello.fed;
	ssize_t n = recv(conn->inside.fd, conn->relay->buffer, BUFFER_SIZE,
			 MSG_PEEK | MSG_DONTWAIT);

	if (n == 0)
		return true; /* an early goodbye is the pump's business */
	if (n < 0 || (size_t)n <= fed)
		return n < 0 && errno != EAGAIN && errno != EINTR;
	switch (hello_feed(&pin->hello, conn->relay->buffer + fed, (size_t)n - fed)) {
	case HELLO_MORE:
		return false;
	case HELLO_SNI:
		if (!hello_matches(&pin->hello, pin->name))
			break;
		_fallthrough_;
	case HELLO_NOT_TLS:
	case HELLO_NO_SNI:
		free(pin);
		conn->pin = NULL;
		return true;
	case HELLO_BAD:
		break;
	}
	end(conn, RELAY_REFUSED);
	return false;
}

static enum pump_result pump_up(struct relay_conn *conn)
{
	return pump(&conn->up, conn->relay->buffer, conn->inside.fd, conn->outside.fd);
}

static enum pump_result pump_down(struct relay_conn *conn)
{
	return pump(&conn->down, conn->relay->buffer, conn->outside.fd, conn->inside.fd);
}

/* down_first: the side that has an event is looked at first, that is less to wait for its bytes. */
static int flow(struct relay_conn *conn, bool down_first, struct err *err)
{
	struct relay *relay = conn->relay;
	enum pump_result up, down = PUMP_WAITS;
	int r = 0;

	if (conn->pin && !check_hello(conn))
		return 0;
	if (down_first)
		down = pump_down(conn);
	up = pump_up(conn);
	if (!down_first)
		down = pump_down(conn);
	if (up == PUMP_BROKEN || down == PUMP_BROKEN) {
		end(conn, RELAY_RESET);
		return 0;
	}
	if (conn->up.shut && conn->down.shut) {
		end(conn, RELAY_CLOSED);
		return 0;
	}
	/* Changing nothing makes the kernel report again what is ready: after the others' turn. */
	if (up == PUMP_MORE || down == PUMP_MORE)
		r = loop_change(relay->loop, &conn->inside,
				LOOP_IN | LOOP_OUT | LOOP_RDHUP | LOOP_EDGE, err);
	if (r == 0 && (up == PUMP_MORE || down == PUMP_MORE))
		r = loop_change(relay->loop, &conn->outside,
				LOOP_IN | LOOP_OUT | LOOP_RDHUP | LOOP_EDGE, err);
	return r;
}

/*
 * A reset is an error event; a direction that has already said goodbye would not notice it. What came
 * before the reset can still be read, and goes on: a server that cuts an upload off has said why.
 */
static int on_reset(struct relay_conn *conn, struct pump *last, int from, int to)
{
	last->closing = true;
	while (!conn->pin && pump(last, conn->relay->buffer, from, to) == PUMP_MORE)
		;
	end(conn, RELAY_RESET);
	return 0;
}

static int on_inside(struct loop_source *source, uint32_t events, struct err *err)
{
	struct relay_conn *conn = container_of(source, struct relay_conn, inside);

	if (events & LOOP_ERR)
		return on_reset(conn, &conn->up, conn->inside.fd, conn->outside.fd);
	if (events & (LOOP_RDHUP | LOOP_HUP))
		conn->up.closing = true;
	return flow(conn, false, err);
}

static int on_outside(struct loop_source *source, uint32_t events, struct err *err)
{
	struct relay_conn *conn = container_of(source, struct relay_conn, outside);

	if (events & LOOP_ERR)
		return on_reset(conn, &conn->down, conn->outside.fd, conn->inside.fd);
	if (events & (LOOP_RDHUP | LOOP_HUP))
		conn->down.closing = true;
	return flow(conn, true, err);
}

/* While a hello is awaited. */
static void on_tick(struct ticker *ticker)
{
	struct relay *relay = container_of(ticker, struct relay, ticker);
	bool awaited = false;

	for (struct relay_conn *conn = relay->conns, *next; conn; conn = next) {
		next = conn->next;
		if (!conn->pin)
			continue;
		if (os_seconds() >= conn->pin->deadline)
			end(conn, RELAY_STALLED);
		else
			awaited = true;
	}
	if (!awaited)
		ticker_run(ticker, false);
}

static bool await_hello(struct relay_conn *conn, const char *name)
{
	conn->pin = calloc(1, sizeof(*conn->pin));
	if (!conn->pin)
		return false;
	snprintf(conn->pin->name, sizeof(conn->pin->name), "%s", name);
	conn->pin->deadline = os_seconds() + HELLO_SECONDS;
	ticker_keep(&conn->relay->ticker, true);
	return true;
}

/* How many connections there may be: two descriptors each, and some are left for whoever else works in
 * this process. The broker of files does, and a flood of connections is no reason to refuse it one. */
static size_t room(void)
{
	size_t n = os_raise_descriptors(); /* fewer connections otherwise, each refused */

	return n < DESCRIPTORS_KEPT ? 0 : MIN((n - DESCRIPTORS_KEPT) / 2, (size_t)CONNECTIONS_MAX);
}

int relay_start(struct relay *relay, struct loop *loop, const struct relay_hooks *hooks,
		struct err *err)
{
	*relay = (struct relay){
		.loop = loop,
		.hooks = *hooks,
		.buffer = malloc(BUFFER_SIZE),
	};
	if (!relay->buffer)
		return err_errno(err, ENOMEM, "the relay");
	relay->most = room();
	return ticker_start(&relay->ticker, loop, on_tick, err);
}

int relay_add(struct relay *relay, int inside, int outside, const char *tls_name, void *tag,
	      struct err *err)
{
	const uint32_t events = LOOP_IN | LOOP_OUT | LOOP_RDHUP | LOOP_EDGE;
	struct relay_conn *conn = calloc(1, sizeof(*conn));
	int r;

	if (!conn) {
		close(inside);
		close(outside);
		relay->hooks.ended(relay->hooks.ctx, tag,
				   &(struct relay_stats){ .end = RELAY_RESET });
		return err_errno(err, ENOMEM, "a connection");
	}
	*conn = (struct relay_conn){
		.relay = relay,
		.next = relay->conns,
		.link = &relay->conns,
		.inside = { .fd = inside, .on_event = on_inside },
		.outside = { .fd = outside, .on_event = on_outside },
		.tag = tag,
	};
	if (conn->next)
		conn->next->link = &conn->next;
	relay->conns = conn;
	relay->n_conns++;
	bound_buffer(relay, inside);
	bound_buffer(relay, outside);
	if (tls_name && !await_hello(conn, tls_name))
		r = err_errno(err, ENOMEM, "a connection");
	else
		r = loop_add(relay->loop, &conn->inside, events, err);
	if (r == 0 && loop_change(relay->loop, &conn->outside, events, err) < 0)
		r = err->code == ENOENT ? loop_add(relay->loop, &conn->outside, events, err)
					: -err->code;
	if (r < 0)
		end(conn, RELAY_RESET);
	return r;
}

void relay_reset_if(struct relay *relay, bool (*doomed)(void *ctx, void *tag), void *ctx)
{
	for (struct relay_conn *conn = relay->conns, *next; conn; conn = next) {
		next = conn->next;
		if (doomed(ctx, conn->tag))
			end(conn, RELAY_RESET);
	}
}

/* What conn waits for: the outside to take more, or the inside to have more. */
static struct pollfd awaited(const struct relay_conn *conn)
{
	char byte;
	bool more = recv(conn->inside.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;

	return (struct pollfd){ .fd = more ? conn->outside.fd : conn->inside.fd,
				.events = more ? POLLOUT : POLLIN };
}

/* Sends what is there; ends those that are done, and says what the rest waits for. */
static size_t flush(struct relay *relay, struct pollfd *fds)
{
	size_t n = 0;

	for (struct relay_conn *conn = relay->conns, *next; conn; conn = next) {
		enum pump_result r = conn->pin ? PUMP_BROKEN : PUMP_MORE;

		next = conn->next;
		conn->up.closing = true;
		while (r == PUMP_MORE)
			r = pump_up(conn);
		if (r == PUMP_BROKEN)
			end(conn, RELAY_RESET);
		else if (conn->up.shut)
			end(conn, RELAY_CLOSED);
		else
			fds[n++] = awaited(conn);
	}
	return n;
}

void relay_finish(struct relay *relay)
{
	_cleanup_free_ struct pollfd *fds = calloc(relay->n_conns + 1, sizeof(*fds));
	int64_t ms, last = -1;

	while (fds && relay->conns) {
		size_t n = flush(relay, fds);

		ms = os_now_ms();
		last = last < 0 ? ms + FINISH_MS : last;
		if (n == 0 || ms >= last || poll(fds, n, (int)MIN(last - ms, IDLE_MS)) == 0)
			return;
	}
}

void relay_stop(struct relay *relay)
{
	while (relay->conns)
		end(relay->conns, RELAY_RESET);
	ticker_stop(&relay->ticker);
	free(relay->buffer);
	*relay = (struct relay){ .loop = NULL };
}
