/* SPDX-License-Identifier: MIT */
/*
 * Calls: connections through a port, from the accepted socket to the two that the relay has.
 *
 * Inside is dialled with sockets that live in the sandbox's network namespace, so that they reach
 * the sandbox's own loopback and nothing else; outside, the host's loopback and the port that was
 * asked for. IPv4 is tried first and then IPv6, because servers listen on either.
 */
#include "net/call.h"

#include <errno.h>
#include <sys/socket.h>

#include "net/nsconf.h"
#include "os/socket.h"
#include "os/timer.h"

#define CALLS_MAX 256
#define DIAL_SECONDS 10 /* a server whose own backlog is full answers late */

struct call {
	struct ports *ports;
	struct call *next, **link; /* while it is dialled */
	bool into;
	uint16_t port;
	unsigned tried; /* of the families */
	int accepted;
	struct loop_source dialled;
	double started;
};

const int call_families[CALL_FAMILIES] = { AF_INET, AF_INET6 };

socklen_t call_loopback(int family, uint16_t port, struct sockaddr_storage *ret)
{
	struct address address = family == AF_INET ? address_v4(INADDR_LOOPBACK)
						   : (struct address){ { [15] = 1 } };

	return address_to_sockaddr(&address, port, ret);
}

int call_take_inside(struct ports *p, unsigned index, struct err *err)
{
	size_t *n = &p->pool[index].n;
	int *fds = p->pool[index].fds, r = 0;

	if (*n == 0) {
		size_t many = PORTS_POOL;

		r = nsconf_refill(p->netns, fds, many, call_families[index], err);
		if (os_is_exhausted(-r)) /* there may still be room for one */
			r = nsconf_refill(p->netns, fds, many = 1, call_families[index], err);
		if (r < 0)
			return r;
		*n = many;
	}
	return fds[--*n];
}

static int take_socket(struct call *call, unsigned index)
{
	struct ports *p = call->ports;
	struct err err = { 0 };
	int fd;

	if (call->into)
		return socket(call_families[index], SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (call_families[index] == AF_INET6 && p->no_ipv6)
		return -1;
	fd = call_take_inside(p, index, &err);
	if (fd >= 0)
		return fd;
	if (call_families[index] == AF_INET6)
		p->no_ipv6 = err.code == EAFNOSUPPORT;
	else if (!p->warned)
		p->hooks.warn(p->hooks.ctx, &err);
	p->warned |= call_families[index] == AF_INET; /* the reset that follows says nothing */
	return -1;
}

static void unlink_call(struct call *call)
{
	*call->link = call->next;
	if (call->next)
		call->next->link = call->link;
	if (!call->ports->dialling)
		ports_watch_time(call->ports);
}

static void close_dialled(struct call *call)
{
	loop_remove(call->ports->loop, &call->dialled);
	close(call->dialled.fd);
	call->dialled.fd = -1;
}

static void give_up(struct call *call)
{
	if (call->dialled.fd >= 0)
		close_dialled(call);
	os_socket_reset(call->accepted);
	unlink_call(call);
	call->ports->n_calls[call->into]--;
	free(call);
}

static int on_dialled(struct loop_source *source, uint32_t events, struct err *err);

/* Tries the families from call->tried on until one is under way. */
static void dial(struct call *call)
{
	while (call->tried < CALL_FAMILIES) {
		unsigned index = call->tried++;
		struct sockaddr_storage to;
		socklen_t len = call_loopback(call_families[index], call->port, &to);
		struct err err;

		call->dialled = (struct loop_source){ .fd = take_socket(call, index),
						      .on_event = on_dialled };
		if (call->dialled.fd < 0)
			continue;
		if ((connect(call->dialled.fd, (struct sockaddr *)&to, len) == 0 ||
		     errno == EINPROGRESS) &&
		    loop_add(call->ports->loop, &call->dialled, LOOP_OUT, &err) == 0)
			return;
		close_dialled(call);
	}
	give_up(call);
}

/* Both sides are there. */
static void join(struct call *call)
{
	int dialled = take_fd(&call->dialled.fd), accepted = take_fd(&call->accepted);
	struct err ignored; /* it is reset, which is what the peers can be told */

	unlink_call(call);
	relay_prepare(dialled);
	relay_prepare(accepted);
	(void)relay_add(&call->ports->relay, call->into ? accepted : dialled,
			call->into ? dialled : accepted, NULL, call, &ignored);
}

static int on_dialled(struct loop_source *source, uint32_t events, struct err *err)
{
	struct call *call = container_of(source, struct call, dialled);

	(void)events;
	(void)err;
	if (os_connect_result(source->fd)) {
		close_dialled(call);
		dial(call);
		return 0;
	}
	loop_remove(call->ports->loop, source);
	join(call);
	return 0;
}

void call_on_ended(void *ctx, void *tag, const struct relay_stats *stats)
{
	struct ports *p = ctx;
	struct call *call = tag;
	const struct net_event event = {
		.type = NET_EVENT_ENDED,
		.name = "host.wrapix.internal",
		.port = call->port,
		.sent = stats->sent,
		.received = stats->received,
		.seconds = os_now() - call->started,
	};

	if (call->into)
		p->hooks.on_event(p->hooks.ctx, &event);
	p->n_calls[call->into]--;
	free(call);
}

void call_turn_away(struct ports *p, int fd, int code)
{
	struct err err;

	os_socket_reset(fd);
	ports_take_spare(p); /* whoever is told may want one too */
	if (p->warned)
		return;
	p->warned = true;
	if (code)
		err_errno(&err, code, "a connection to a published or host port was reset");
	else
		err_set(&err, EUSERS,
			"published and host ports: a connection beyond %d at once was reset",
			CALLS_MAX);
	p->hooks.warn(p->hooks.ctx, &err);
}

void call_begin(struct forward *forward, int fd)
{
	struct ports *p = forward->ports;
	bool full = p->n_calls[forward->into] == CALLS_MAX;
	struct call *call = full ? NULL : calloc(1, sizeof(*call));

	if (!call) {
		call_turn_away(p, fd, full ? 0 : ENOMEM);
		return;
	}
	*call = (struct call){
		.ports = p,
		.next = p->dialling,
		.link = &p->dialling,
		.into = forward->into,
		.port = forward->to,
		.accepted = fd,
		.dialled.fd = -1,
		.started = os_now(),
	};
	if (call->next)
		call->next->link = &call->next;
	p->dialling = call;
	p->n_calls[call->into]++;
	if (!call->next)
		ports_watch_time(p);
	dial(call);
}

void call_expire(struct ports *p)
{
	for (struct call *call = p->dialling, *next; call; call = next) {
		next = call->next;
		if (os_now() - call->started > DIAL_SECONDS)
			give_up(call);
	}
}

void call_finish(struct ports *p)
{
	struct err ignored;

	while (p->dialling) {
		struct call *call = p->dialling;

		call->tried = CALL_FAMILIES;
		(void)on_dialled(&call->dialled, LOOP_OUT, &ignored);
	}
}
