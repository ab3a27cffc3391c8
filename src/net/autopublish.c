/* SPDX-License-Identifier: MIT */
/*
 * Publishing by itself what listens inside.
 *
 * The kernel is asked twice a second for the TCP sockets of the sandbox that listen, which takes
 * some 40 microseconds; nobody pays who has not asked for it. Being notified of listen(2) instead
 * would cost every such call a round through us, would come before the port listens, and would
 * not tell when it stops; asking sees both, whatever way the socket came to be.
 *
 * A port is taken for gone only when it is missing several times in a row: a server that restarts
 * keeps its port, and says nothing new.
 *
 * What an attacker controls: how many sockets listen inside, on which ports, and how fast they
 * change. One answer of the kernel's is read at a time, so that a long list delays nobody; the
 * number of ports and of lines for the user is bounded.
 */
#include "net/autopublish.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "net/ports.h"
#include "os/linux/netlink.h"
#include "os/linux/packets.h"
#include "os/timer.h"

#define INTERVAL_MS 500
#define GONE_AFTER 4 /* intervals */
#define PORTS_MAX 64
#define LINES_MAX 200
#define BUFFER_SIZE 32768 /* the kernel's answers are no longer */

struct auto_port {
	uint16_t inside;
	unsigned missed;
	struct forward *forward; /* NULL: there was no port of the host's for it */
};

struct auto_publish {
	struct ports *ports;
	struct loop_source timer, diag;
	int asked; /* the family that an answer is awaited for; 0: none */
	bool seen[UINT16_MAX + 1];
	struct auto_port published[PORTS_MAX];
	size_t n;
	unsigned lines;
	bool full; /* and the user knows */
	uint8_t buffer[BUFFER_SIZE] __attribute__((aligned(4)));
};

static void say(struct auto_publish *a, const char *text)
{
	const struct ports_hooks *hooks = &a->ports->hooks;

	if (a->lines++ < LINES_MAX)
		hooks->note(hooks->ctx, text);
	else if (a->lines == LINES_MAX + 1)
		hooks->note(hooks->ctx, "ports come and go: no more lines about them");
}

int auto_publish_candidate(uint16_t inside, unsigned i)
{
	enum { NEXT_ONES = 9 };

	if (i == 0)
		return inside;
	/* 80 is the administrator's: 8080 says what is meant. */
	if (i <= NEXT_ONES)
		return (int)(inside < 1024 ? inside + 8000 + i - 1
					   : MIN(inside + i, (unsigned)UINT16_MAX));
	return i == NEXT_ONES + 1 ? 0 : -1;
}

static void publish(struct auto_publish *a, uint16_t inside)
{
	struct auto_port *port = &a->published[a->n++];
	int r = -EADDRINUSE, why = 0, candidate;
	char text[160];

	*port = (struct auto_port){ .inside = inside };
	for (unsigned i = 0; r < 0 && (candidate = auto_publish_candidate(inside, i)) >= 0; i++) {
		r = ports_publish(a->ports, (uint16_t)candidate, inside, &port->forward);
		why = i == 0 ? -r : why;
	}
	if (r < 0)
		snprintf(text, sizeof(text), "port %u inside cannot be published: %s", inside,
			 strerror(-r));
	else if (why)
		snprintf(text, sizeof(text), "127.0.0.1:%u leads to port %u inside (%u: %s)",
			 port->forward->port, inside, inside, strerror(why));
	else
		snprintf(text, sizeof(text), "127.0.0.1:%u leads to port %u inside",
			 port->forward->port, inside);
	say(a, text);
}

static void withdraw(struct auto_publish *a, size_t i)
{
	struct forward *forward = a->published[i].forward;
	char text[96];

	if (forward) {
		snprintf(text, sizeof(text),
			 "127.0.0.1:%u is closed: nothing listens on port %u inside", forward->port,
			 a->published[i].inside);
		ports_withdraw(forward);
		say(a, text);
	}
	a->published[i] = a->published[--a->n];
}

/* All that listens is in 'seen'. */
static void compare(struct auto_publish *a)
{
	for (size_t i = a->n; i-- > 0;) {
		struct auto_port *port = &a->published[i];

		port->missed = a->seen[port->inside] ? 0 : port->missed + 1;
		a->seen[port->inside] = false;
		if (port->missed == GONE_AFTER)
			withdraw(a, i);
	}
	for (unsigned p = 1; p <= UINT16_MAX; p++) {
		if (!a->seen[p] || ports_has_inside(a->ports, (uint16_t)p))
			continue;
		if (a->n < PORTS_MAX) {
			publish(a, (uint16_t)p);
		} else if (!a->full) {
			a->full = true;
			say(a, "more ports listen inside than are published by themselves (64)");
		}
	}
	memset(a->seen, 0, sizeof(a->seen));
}

static int ask(struct auto_publish *a, int family)
{
	uint8_t request[128] __attribute__((aligned(4)));
	const struct inet_diag_req_v2 what = {
		.sdiag_family = (uint8_t)family,
		.sdiag_protocol = IPPROTO_TCP,
		.idiag_states = 1 << TCP_LISTEN,
	};
	struct nl_out out = NL_OUT(request);

	nl_begin(&out, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, &what, sizeof(what));
	nl_end(&out);
	a->asked = family;
	return nl_send(a->diag.fd, &out);
}

/* Reached by 127.0.0.1 or ::1, which is what a forward dials. */
static bool is_reachable(const struct inet_diag_msg *message)
{
	static const struct in6_addr any = IN6ADDR_ANY_INIT, loopback = IN6ADDR_LOOPBACK_INIT;
	struct in6_addr at;

	if (message->idiag_family == AF_INET)
		return message->id.idiag_src[0] == htonl(INADDR_ANY) ||
		       message->id.idiag_src[0] == htonl(INADDR_LOOPBACK);
	memcpy(&at, message->id.idiag_src, sizeof(at));
	return !memcmp(&at, &any, sizeof(at)) || !memcmp(&at, &loopback, sizeof(at)) ||
	       (IN6_IS_ADDR_V4MAPPED(&at) && message->id.idiag_src[3] == htonl(INADDR_LOOPBACK));
}

static void take_in(struct auto_publish *a, const struct nl_message *message)
{
	struct inet_diag_msg socket;

	if (message->body.len < sizeof(socket))
		return;
	memcpy(&socket, message->body.data, sizeof(socket));
	if (socket.idiag_state == TCP_LISTEN && is_reachable(&socket))
		a->seen[ntohs(socket.id.idiag_sport)] = true;
}

/* The end of one family's list; 'code' is why it is not whole. */
static int end_of_list(struct auto_publish *a, int code, struct err *err)
{
	struct ports *ports = a->ports;
	int family = a->asked;

	a->asked = 0;
	if (code == 0 && family == AF_INET)
		code = -ask(a, AF_INET6);
	else if (code == 0 || (family == AF_INET6 && code == ENOENT))
		compare(a); /* ENOENT: a kernel without IPv6 */
	if (code == 0 || family == AF_INET6)
		return 0;
	/* The kernel cannot tell: nothing is published by itself, and all else goes on. */
	loop_remove(ports->loop, &a->timer);
	loop_remove(ports->loop, &a->diag);
	err_errno(err, code, "--publish auto: asking the kernel what listens");
	err_hint(err, "--publish PORT names one");
	ports->hooks.warn(ports->hooks.ctx, err);
	return 0;
}

static int on_diag(struct loop_source *source, uint32_t events, struct err *err)
{
	struct auto_publish *a = container_of(source, struct auto_publish, diag);
	struct nl_message message;
	struct nl_in in;
	int r = nl_receive(source->fd, a->buffer, sizeof(a->buffer), &in);

	(void)events;
	if (r == -EAGAIN)
		return 0;
	if (r < 0)
		return end_of_list(a, -r, err);
	while (nl_next_message(&in, &message)) {
		int code = 0;

		if (message.type == SOCK_DIAG_BY_FAMILY) {
			take_in(a, &message);
			continue;
		}
		if (message.type == NLMSG_ERROR && message.body.len >= sizeof(code))
			memcpy(&code, message.body.data, sizeof(code));
		if (message.type == NLMSG_DONE || message.type == NLMSG_ERROR)
			return end_of_list(a, -code, err);
	}
	return 0;
}

static int on_timer(struct loop_source *source, uint32_t events, struct err *err)
{
	struct auto_publish *a = container_of(source, struct auto_publish, timer);
	int r;

	(void)events;
	if (!os_timer_take(source->fd) || a->asked)
		return 0;
	r = ask(a, AF_INET);
	return r < 0 ? end_of_list(a, -r, err) : 0;
}

int auto_publish_start(struct auto_publish **ret, struct ports *ports, struct err *err)
{
	struct auto_publish *a = calloc(1, sizeof(*a));
	int r;

	if (!a)
		return err_errno(err, ENOMEM, "--publish auto");
	*ret = a;
	a->ports = ports;
	a->diag = (struct loop_source){ .fd = ports->diag, .on_event = on_diag };
	a->timer = (struct loop_source){
		.fd = os_timer_open(),
		.on_event = on_timer,
	};
	if (a->timer.fd < 0 || os_timer_set(a->timer.fd, INTERVAL_MS, INTERVAL_MS) < 0)
		return err_errno(err, errno, "a timer");
	r = loop_add(ports->loop, &a->diag, LOOP_IN, err);
	return r == 0 ? loop_add(ports->loop, &a->timer, LOOP_IN, err) : r;
}

void auto_publish_stop(struct auto_publish **publisher)
{
	struct auto_publish *a = *publisher;

	if (!a)
		return;
	loop_remove(a->ports->loop, &a->diag);
	if (a->timer.fd >= 0) {
		loop_remove(a->ports->loop, &a->timer);
		close(a->timer.fd);
	}
	free(a);
	*publisher = NULL;
}
