/* SPDX-License-Identifier: MIT */
/*
 * Ports in both directions.
 *
 * Listeners on both sides; what each accepts is a call (net/call.h).
 *
 * A call is accepted before anybody knows whether somebody will answer: a client of a port that
 * nobody serves sees its connection reset, not refused.
 *
 * What an attacker controls: inside, how many connections there are, their bytes and when they
 * stall. Their number is bounded, and so is what each costs; the sandbox cannot choose what is
 * dialled outside.
 */
#include "net/ports.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#include "net/autopublish.h"
#include "net/call.h"
#include "net/nsconf.h"
#include "os/socket.h"

#define BACKLOG 128
#define BATCH 16

void ports_watch_time(struct ports *p)
{
	ticker_keep(&p->ticker, p->dialling || p->paused);
}

void ports_take_spare(struct ports *p)
{
	if (p->spare < 0)
		p->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Without a descriptor to accept with, the loop would be told of the same connection for ever. The
 * spare one takes it in and resets it; without even that nothing is accepted for a while. */
static void shed(struct ports *p, int listener)
{
	int fd, code;

	if (p->spare >= 0)
		close(p->spare);
	p->spare = -1;
	fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	code = errno;
	if (fd >= 0)
		call_turn_away(p, fd, EMFILE);
	else
		ports_take_spare(p);
	if (fd >= 0 || !os_is_exhausted(code))
		return;
	for (struct forward *f = p->forwards; f; f = f->next)
		loop_remove(p->loop, &f->source);
	p->paused = true;
	ports_watch_time(p);
}

static int on_connection(struct loop_source *source, uint32_t events, struct err *err)
{
	struct forward *forward = container_of(source, struct forward, source);

	(void)events;
	(void)err;
	for (int i = 0; i < BATCH; i++) {
		int fd = accept4(source->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			call_begin(forward, fd);
		} else if (os_is_exhausted(errno)) {
			shed(forward->ports, source->fd);
			return 0;
		} else if (errno == EAGAIN) {
			return 0;
		}
	}
	return 0;
}

/* Ends calls that nobody answers, and a pause. */
static void on_tick(struct ticker *ticker)
{
	struct ports *p = container_of(ticker, struct ports, ticker);
	struct err ignored; /* without memory for it the pause goes on */
	int r = 0;

	call_expire(p);
	for (struct forward *f = p->paused ? p->forwards : NULL; r == 0 && f; f = f->next)
		if (loop_add(p->loop, &f->source, LOOP_IN, &ignored) < 0)
			r = ignored.code == EEXIST ? 0 : -ignored.code;
	p->paused = r < 0;
	ports_watch_time(p);
}

static struct forward *add_forward(struct ports *p, int fd, bool into, uint16_t port, uint16_t to)
{
	struct forward *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	*f = (struct forward){
		.ports = p,
		.next = p->forwards,
		.link = &p->forwards,
		.source = { .fd = fd, .on_event = on_connection },
		.into = into,
		.port = port,
		.to = to,
	};
	if (f->next)
		f->next->link = &f->next;
	p->forwards = f;
	return f;
}

static int listen_at(int fd, const struct sockaddr_storage *at, socklen_t len, bool inside)
{
	const int on = 1;

	/* So that "0.0.0.0" and "::" can both be asked for, and mean what they say. */
	if (at->ss_family == AF_INET6 &&
	    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) < 0)
		return -errno;
	/* Connections of an earlier session may still be winding down. */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    /* Inside, TIER_PORTS listens on all other addresses of the same port. */
	    (inside && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) < 0) ||
	    bind(fd, (const struct sockaddr *)at, len) < 0 || listen(fd, BACKLOG) < 0)
		return -errno;
	return 0;
}

static int open_host(const struct address *address, uint16_t port, int *ret_fd)
{
	struct sockaddr_storage at;
	socklen_t len = address_to_sockaddr(address, port, &at);
	_cleanup_close_ int fd = socket(at.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
					0);
	int r = fd < 0 ? -errno : listen_at(fd, &at, len, false);

	if (r == 0)
		*ret_fd = take_fd(&fd);
	return r;
}

static int explain(const struct port_spec *spec, int code, struct err *err)
{
	const char *const bracket[] = { strchr(spec->address, ':') ? "[" : "",
					strchr(spec->address, ':') ? "]" : "" };

	err_errno(err, code, "publishing %s%s%s:%u", bracket[0], spec->address, bracket[1],
		  spec->host);
	if (code == EADDRINUSE)
		err_hint(err, "another program has this port; --publish OTHER:%u takes another",
			 spec->inside);
	else if (code == EACCES)
		err_hint(err,
			 "ports below 1024 are the administrator's; --publish %u:%u takes another",
			 spec->host + 8000, spec->inside);
	else if (code == EADDRNOTAVAIL)
		err_hint(err, "this machine has no such address; 0.0.0.0 and [::] are all it has");
	return -code;
}

int ports_bind(struct ports *p, const struct port_spec *specs, size_t n, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		const struct port_spec *spec = &specs[i];
		_cleanup_close_ int fd = -1;
		struct address address;
		int r;

		if (spec->into)
			continue;
		if (!address_parse(spec->address, &address))
			return err_usage(err, "'%s' is not an address", spec->address);
		r = open_host(&address, spec->host, &fd);
		if (r < 0)
			return explain(spec, -r, err);
		if (!add_forward(p, fd, false, spec->host, spec->inside))
			return err_errno(err, ENOMEM, "publishing ports");
		take_fd(&fd);
	}
	return 0;
}

/* A listener inside for a port of the host's. Without IPv6 inside, IPv4 will do. */
static int open_inside(struct ports *p, uint16_t port, unsigned index, struct err *err)
{
	struct sockaddr_storage at;
	socklen_t len = call_loopback(call_families[index], port, &at);
	_cleanup_close_ int fd = call_take_inside(p, index, err);
	int r = fd < 0 ? -err->code : listen_at(fd, &at, len, true);

	if (r < 0 && call_families[index] == AF_INET6 &&
	    (r == -EAFNOSUPPORT || r == -EADDRNOTAVAIL))
		return 0;
	if (r < 0)
		return err_errno(err, -r, "taking port %u in the sandbox", port);
	if (!add_forward(p, fd, true, port, port))
		return err_errno(err, ENOMEM, "taking port %u in the sandbox", port);
	take_fd(&fd);
	return 0;
}

int ports_enter(struct ports *p, const struct port_spec *specs, size_t n, int netns,
		struct err *err)
{
	int r = 0;

	p->netns = fcntl(netns, F_DUPFD_CLOEXEC, 3);
	if (p->netns < 0)
		return err_errno(err, errno, "the sandbox's network");
	for (size_t i = 0; r == 0 && i < n; i++)
		for (unsigned f = 0; r == 0 && specs[i].into && f < CALL_FAMILIES; f++)
			r = open_inside(p, specs[i].host, f, err);
	return r == 0 && p->automatic ? nsconf_diag(p->netns, &p->diag, err) : r;
}

int ports_start(struct ports *p, struct loop *loop, const struct ports_hooks *hooks,
		struct err *err)
{
	const struct relay_hooks relay = { .ended = call_on_ended, .ctx = p };
	int r;

	p->loop = loop;
	p->hooks = *hooks;
	ports_take_spare(p);
	if (p->spare < 0)
		return err_errno(err, errno, "opening '/dev/null'");
	r = ticker_start(&p->ticker, loop, on_tick, err);
	if (r == 0)
		r = relay_start(&p->relay, loop, &relay, err);
	for (struct forward *f = p->forwards; r == 0 && f; f = f->next)
		r = loop_add(loop, &f->source, LOOP_IN, err);
	if (r == 0 && p->automatic)
		r = auto_publish_start(&p->publisher, p, err);
	return r;
}

int ports_publish(struct ports *p, uint16_t port, uint16_t inside, struct forward **ret)
{
	const struct address address = address_v4(INADDR_LOOPBACK);
	_cleanup_close_ int fd = -1;
	struct sockaddr_storage at;
	socklen_t len = sizeof(at);
	struct forward *f;
	struct err err;
	int r = open_host(&address, port, &fd);

	if (r == 0 && getsockname(fd, (struct sockaddr *)&at, &len) < 0)
		r = -errno;
	if (r < 0)
		return r;
	address_from_sockaddr((struct sockaddr *)&at, &(struct address){ 0 }, &port);
	f = add_forward(p, fd, false, port, inside);
	if (!f)
		return -ENOMEM;
	take_fd(&fd);
	r = p->paused ? 0 : loop_add(p->loop, &f->source, LOOP_IN, &err);
	if (r < 0)
		ports_withdraw(f);
	else
		*ret = f;
	return r;
}

void ports_withdraw(struct forward *f)
{
	if (f->ports->loop)
		loop_remove(f->ports->loop, &f->source);
	close(f->source.fd);
	*f->link = f->next;
	if (f->next)
		f->next->link = f->link;
	free(f);
}

bool ports_has_inside(const struct ports *p, uint16_t port)
{
	for (const struct forward *f = p->forwards; f; f = f->next)
		if ((f->into ? f->port : f->to) == port)
			return true;
	return p->hooks.is_own(p->hooks.ctx, port);
}

void ports_stop(struct ports *p)
{
	auto_publish_stop(&p->publisher);
	if (p->relay.loop) {
		call_finish(p);
		relay_finish(&p->relay);
		relay_stop(&p->relay);
	}
	while (p->forwards)
		ports_withdraw(p->forwards);
	for (size_t i = 0; i < ARRAY_LEN(p->pool); i++)
		while (p->pool[i].n)
			close(p->pool[i].fds[--p->pool[i].n]);
	ticker_stop(&p->ticker);
	for (size_t i = 0; i < 3; i++) {
		int fd = (int[]){ p->netns, p->diag, p->spare }[i];

		if (fd >= 0)
			close(fd);
	}
	*p = PORTS_NONE;
}
