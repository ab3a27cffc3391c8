/* SPDX-License-Identifier: MIT */
/*
 * The proxy on the loopback; see front.h.
 *
 * A connection is a guest of the loop while it talks (TALK_SECONDS at most), a dial while it waits, and
 * the relay's after that. What it says is only looked at until a step is whole, so that nothing of the
 * bytes that follow is taken: they are the relay's, which looks at a TLS hello among them.
 */
#include "net/front.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "net/flow.h"
#include "os/socket.h"

enum { TALK_SECONDS = 30 };

struct front_conn {
	struct front *front;
	struct front_conn *next, **link;
	uint32_t id;
	struct loop_source source; /* fd -1: the dial has it */
	struct talk talk;
	struct str first; /* what the far side gets before the relay begins */
	int64_t deadline;
};

/* An open connection, for the log and for new rules. */
static void forget(struct front_conn *c)
{
	if (c->source.fd >= 0) {
		loop_remove(c->front->loop, &c->source);
		close(c->source.fd);
	}
	*c->link = c->next;
	if (c->next)
		c->next->link = c->link;
	c->front->n_conns--;
	str_release(&c->first);
	free(c);
}

/* A few hundred bytes into a socket that has taken none yet. */
static void put(int fd, const struct str *text)
{
	if (text->len)
		(void)!send(fd, text->s, text->len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void answer(const struct front_conn *c, int fd, enum talk_end end, const char *why)
{
	_cleanup_str_ struct str reply = { 0 };

	talk_answer(&c->talk, end, why, &reply);
	put(fd, &reply);
}

static void tell_denied(struct front *f, const char *name, const struct address *address,
			uint16_t port, const struct verdict *verdict)
{
	char text[ADDRESS_TEXT];
	const struct net_event event = {
		.type = NET_EVENT_DENIED,
		.name = name && *name ? name : NULL,
		.address = address ? address_print(address, text) : NULL,
		.port = port,
		.reason = verdict->reason,
		.rule = verdict->rule ? verdict->rule->text : NULL,
	};

	f->on_event(f->ctx, &event);
}

static void refuse(struct front_conn *c, int fd, enum net_reason reason)
{
	char why[512];

	snprintf(why, sizeof(why), "wrapix: %.253s:%u may not be reached (%s)\n", c->talk.host,
		 c->talk.port, net_reason_name(reason));
	answer(c, fd, TALK_REFUSED, why);
}

/* --- dialling --- */

static struct front_conn *find(struct front *f, const struct dial *dial)
{
	struct front_conn *c = f->conns;

	while (c && c->id != dial->packet.id)
		c = c->next;
	return c;
}

/* Judges who is meant, and dials. The socket leaves the loop: the dial has it. */
static void begin(struct front_conn *c)
{
	struct front *f = c->front;
	struct queue_packet packet = { .id = c->id, .proto = IPPROTO_TCP, .dport = c->talk.port };
	char name[NAME_SIZE];
	struct address address;
	struct verdict verdict = { .reason = NET_BAD_NAME };
	bool by_address = address_parse(c->talk.host, &address), known = by_address;
	int fd = c->source.fd;

	if (by_address) {
		memcpy(packet.dst.s6_addr, address.b, sizeof(address.b));
		verdict = policy_address(f->policy, &address, c->talk.port);
	} else if (name_canonical(c->talk.host, strlen(c->talk.host), name)) {
		known = true;
		verdict = policy_connect(f->policy, name, c->talk.port);
	}
	if (verdict.allow && f->relay.n_conns + f->dials.n >= f->relay.most)
		verdict = (struct verdict){ .reason = NET_LIMIT };
	if (!verdict.allow) {
		tell_denied(f, by_address || !known ? NULL : name, by_address ? &address : NULL,
			    c->talk.port, &verdict);
		refuse(c, fd, verdict.reason);
		forget(c);
		return;
	}
	loop_remove(f->loop, &c->source);
	c->source.fd = -1;
	if (!dial_begin(&f->dials, &packet, fd, by_address ? NULL : name, f->policy, verdict.rule,
			NULL)) {
		close(fd);
		forget(c);
	}
}

static void on_dialled(void *ctx, struct dial *dial)
{
	struct front *f = ctx;
	struct front_conn *c = find(f, dial);
	int inside = take_fd(&dial->inside);

	if (c) {
		answer(c, inside, TALK_OPEN, "");
		put(dial->outside.fd, &c->first);
		flow_join(&f->relay, dial, inside);
		forget(c);
	} else {
		close(inside);
		close(take_fd(&dial->outside.fd));
	}
	dial_free(dial);
}

static void on_dial_failed(void *ctx, struct dial *dial, int code, enum net_reason reason,
			   const struct address *address)
{
	struct front *f = ctx;
	struct front_conn *c = find(f, dial);
	char why[320];

	if (reason != NET_ALLOWED)
		tell_denied(f, dial->name, address, dial->packet.dport,
			    &(struct verdict){ .reason = reason, .rule = dial->rule });
	snprintf(why, sizeof(why), "wrapix: %s: %s\n", dial->name, strerror(code));
	if (c && net_reason_is_policy(reason))
		refuse(c, dial->inside, reason);
	else if (c)
		answer(c, dial->inside, TALK_UNREACHABLE, why);
	if (c)
		forget(c);
}

static void on_relay_ended(void *ctx, void *tag, const struct relay_stats *stats)
{
	struct front *f = ctx;

	flow_end(tag, stats, f->on_event, f->ctx);
}

/* --- talking --- */

static int on_talk(struct loop_source *source, uint32_t events, struct err *err)
{
	struct front_conn *c = container_of(source, struct front_conn, source);
	_cleanup_str_ struct str reply = { 0 };
	char bytes[TALK_HEAD_MAX];
	ssize_t n = recv(source->fd, bytes, sizeof(bytes), MSG_PEEK | MSG_DONTWAIT);
	enum talk_step step;
	size_t used;

	(void)err;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	step = n <= 0 ? TALK_END : talk_step(&c->talk, bytes, (size_t)n, &used, &reply);
	if (step == TALK_MORE && !(events & (LOOP_RDHUP | LOOP_HUP | LOOP_ERR)))
		return 0;
	if (step == TALK_MORE || n <= 0 ||
	    (used && recv(source->fd, bytes, used, MSG_DONTWAIT) != (ssize_t)used)) {
		forget(c);
		return 0;
	}
	switch (step) {
	case TALK_DIAL:
		str_addn(&c->first, reply.len ? reply.s : "", reply.len);
		begin(c);
		return 0;
	case TALK_ON:
		put(source->fd, &reply);
		return (size_t)n > used ? on_talk(source, events, err) : 0;
	default:
		put(source->fd, &reply);
		forget(c);
		return 0;
	}
}

static void take_in(struct listener *listener, int fd)
{
	struct front *f = container_of(listener, struct front, listener);
	struct front_conn *c = f->n_conns < f->relay.most ? calloc(1, sizeof(*c)) : NULL;
	struct err err;

	if (!c) {
		os_socket_reset(fd);
		return;
	}
	*c = (struct front_conn){
		.front = f,
		.next = f->conns,
		.link = &f->conns,
		.id = ++f->last_id,
		.source = { .fd = fd, .on_event = on_talk },
		.deadline = os_seconds() + TALK_SECONDS,
	};
	memcpy(c->talk.token, f->token, sizeof(c->talk.token));
	if (c->next)
		c->next->link = &c->next;
	f->conns = c;
	f->n_conns++;
	/* New bytes, not bytes: they are left where they are until a step is whole. */
	if (loop_add(f->loop, &c->source, LOOP_IN | LOOP_RDHUP | LOOP_EDGE, &err) < 0)
		forget(c);
	else
		ticker_keep(&f->ticker, true);
}

static void on_tick(struct ticker *ticker)
{
	struct front *f = container_of(ticker, struct front, ticker);

	for (struct front_conn *c = f->conns, *next; c; c = next) {
		next = c->next;
		if (c->source.fd >= 0 && os_seconds() >= c->deadline)
			forget(c);
	}
	if (!f->conns)
		ticker_run(ticker, false);
}

/* --- all of it --- */

void front_take(struct front *f, int listener)
{
	*f = (struct front){ .listener = LISTENER(listener, take_in),
			     .own = OWN_ADDRESSES_NONE,
			     .dials = { .timer.fd = -1, .resolver.source.fd = -1 } };
}

int front_listen(struct front *f, struct err *err)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	unsigned char random[TALK_TOKEN_MAX / 2];

	*f = (struct front){ .listener = LISTENER(-1, take_in),
			     .own = OWN_ADDRESSES_NONE,
			     .dials = { .timer.fd = -1, .resolver.source.fd = -1 } };
	if (getentropy(random, sizeof(random)) < 0)
		return err_errno(err, errno, "the proxy's token");
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(f->token + 2 * i, 3, "%02x", random[i]);
	f->listener.source.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (f->listener.source.fd < 0 ||
	    bind(f->listener.source.fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    listen(f->listener.source.fd, 128) < 0 ||
	    getsockname(f->listener.source.fd, (struct sockaddr *)&at, &len) < 0)
		return err_errno(err, errno, "listening on the loopback");
	relay_prepare(f->listener.source.fd);
	f->port = ntohs(at.sin_port);
	return 0;
}

static void adopt(struct front *f, struct policy *policy)
{
	policy->guard.own = own_address;
	policy->guard.ctx = &f->own;
	f->policy = policy;
}

int front_serve(struct front *f, struct loop *loop, struct policy *policy, net_event_fn *on_event,
		void *ctx, struct err *err)
{
	const struct relay_hooks relay = { on_relay_ended, f };
	const struct dial_hooks dials = { on_dialled, on_dial_failed, f };
	int r;

	adopt(f, policy);
	f->loop = loop;
	f->on_event = on_event;
	f->ctx = ctx;
	r = relay_start(&f->relay, loop, &relay, err);
	if (r == 0)
		r = dial_list_start(&f->dials, loop, &dials, err);
	if (r == 0)
		r = ticker_start(&f->ticker, loop, on_tick, err);
	f->dials.proxy = f->proxy.port ? &f->proxy : NULL;
	return r == 0 ? listener_start(&f->listener, loop, err) : r;
}

static bool is_cut(void *ctx, void *tag)
{
	return flow_is_cut(tag, ((struct front *)ctx)->policy);
}

void front_set_rules(struct front *f, struct policy *policy)
{
	struct policy *old = f->policy;

	policy->guard.kind = old->guard.kind;
	adopt(f, policy);
	dial_list_judge(&f->dials, policy);
	relay_reset_if(&f->relay, is_cut, f);
	policy_unref(old);
}

void front_stop(struct front *f)
{
	if (f->loop) {
		listener_stop(&f->listener);
		while (f->conns)
			forget(f->conns);
		ticker_stop(&f->ticker);
		relay_finish(&f->relay);
		relay_stop(&f->relay);
		dial_list_stop(&f->dials);
		policy_unref(f->policy);
	}
	if (f->listener.source.fd >= 0)
		close(f->listener.source.fd);
	own_addresses_release(&f->own);
	*f = (struct front){ .listener = LISTENER(-1, NULL),
			     .own = OWN_ADDRESSES_NONE,
			     .dials = { .timer.fd = -1, .resolver.source.fd = -1 } };
}
