/* SPDX-License-Identifier: MIT */
/*
 * Pairs of connections.
 *
 *	client --recv--> in --relay_request_read()--> out --SSL_write--> upstream
 *	client <--send-- down <------------------------SSL_read-- upstream
 *
 * Requests are judged one after the other; answers are passed on as they come, byte by byte, so that
 * streams stream. Both sockets are watched by edge: pump() goes on until nothing moves any more.
 *
 * What an attacker controls: the client's bytes, how many connections there are and when they stall.
 * Each has buffers of fixed size, and one that is full is not read into.
 */
#include "relay/pair.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <sys/socket.h>

#include "net/address.h"
#include "os/socket.h"
#include "os/ticker.h"

#define IN_SIZE REQUEST_HEAD_MAX
#define OUT_SIZE (REQUEST_HEAD_MAX + 16384)
#define DOWN_SIZE ((size_t)64 << 10)
#define ROUNDS 64 /* of one pair, before it is another's turn */
#define CONNECT_SECONDS 20
#define CLOSE_SECONDS 2
#define RESOLVE_SECONDS 60
#define SILENT_SECONDS 30 /* then a pair makes room for those that wait */

static void set_state(struct pair *p, enum pair_state state)
{
	p->state = state;
	p->since = os_seconds();
}

static void drop_upstream(struct pair *p)
{
	SSL_free(p->ssl);
	p->ssl = NULL;
	loop_remove(&p->relay->loop, &p->upstream);
	if (p->upstream.fd >= 0)
		close(p->upstream.fd);
	p->upstream.fd = -1;
}

static void pair_end(struct pair *p)
{
	if (p->ssl && p->state == PAIR_OPEN) {
		SSL_SESSION *session = SSL_get1_session(p->ssl);

		if (session && SSL_SESSION_is_resumable(session)) {
			SSL_SESSION_free(p->relay->session);
			p->relay->session = session;
		} else {
			SSL_SESSION_free(session);
		}
		SSL_shutdown(p->ssl);
	}
	drop_upstream(p);
	loop_remove(&p->relay->loop, &p->client);
	close(p->client.fd);
	*p->link = p->next;
	if (p->next)
		p->next->link = p->link;
	p->relay->n_pairs--;
	secret_free(&p->out);
	free(p->in);
	free(p->down);
	free(p);
}

/* An answer of our own, after which the connection ends. */
static void answer(struct pair *p, int status, const char *why)
{
	char body[256];
	int n = snprintf(body, sizeof(body),
			 "{\"type\":\"error\",\"error\":{\"type\":\"wrapix_relay\",\"message\":"
			 "\"wrapix: %s\"}}\n",
			 why);

	drop_upstream(p);
	explicit_bzero(p->out.data, p->out.size);
	p->in_len = p->out_at = p->out_len = p->down_at = 0;
	p->down_len = (size_t)snprintf(p->down, DOWN_SIZE,
				       "HTTP/1.1 %d Refused\r\ncontent-type: application/json\r\n"
				       "content-length: %d\r\nconnection: close\r\n\r\n%s",
				       status, n, body);
	set_state(p, PAIR_CLOSING);
}

/* --- the way up --- */

static int on_upstream(struct loop_source *source, uint32_t events, struct err *err);
static void pump(struct pair *p);

static void fail_upstream(struct pair *p, const char *why)
{
	relay_say(p->relay, "upstream", why);
	answer(p, 502, why);
}

/* The next address that can be tried. */
static void call(struct pair *p)
{
	const struct resolver_answer *found = &p->relay->found;
	struct err err;
	int on = 1, fd;

	while (p->address < found->n) {
		struct sockaddr_storage to;
		struct address address;
		socklen_t len;

		memcpy(address.b, found->addresses[p->address++].s6_addr, sizeof(address.b));
		len = address_to_sockaddr(&address, p->relay->rules.port, &to);
		fd = socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		if (fd < 0)
			continue;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		p->upstream = (struct loop_source){ .fd = fd, .on_event = on_upstream };
		if ((connect(fd, (struct sockaddr *)&to, len) == 0 || errno == EINPROGRESS) &&
		    loop_add(&p->relay->loop, &p->upstream, LOOP_IN | LOOP_OUT | LOOP_EDGE, &err) ==
			    0) {
			set_state(p, PAIR_CONNECTING);
			return;
		}
		drop_upstream(p);
	}
	fail_upstream(p, "the upstream host cannot be reached");
}

static void call_anew(struct pair *p)
{
	p->address = 0;
	if (p->relay->found.n)
		call(p);
	else
		fail_upstream(p, "the upstream host's name is not known");
}

/* Names are looked up elsewhere, so that no other pair has to wait for it. */
static void begin_call(struct pair *p)
{
	struct relay *relay = p->relay;

	if (relay->found.n && os_seconds() - relay->resolved < RESOLVE_SECONDS) {
		call_anew(p);
		return;
	}
	if (!relay->resolving)
		relay->resolving = resolver_ask(&relay->resolver, relay->rules.host) == 0;
	if (relay->resolving)
		set_state(p, PAIR_RESOLVING);
	else
		call_anew(p);
}

void pairs_resolved(struct relay *relay, const struct resolver_answer *answer)
{
	relay->resolving = false;
	relay->resolved = os_seconds();
	if (answer->n) /* else the old ones may still do */
		relay->found = *answer;
	for (struct pair *p = relay->pairs, *next; p; p = next) {
		next = p->next;
		if (p->state != PAIR_RESOLVING)
			continue;
		call_anew(p);
		pump(p); /* it may end here */
	}
}

static void begin_tls(struct pair *p)
{
	struct relay *relay = p->relay;

	p->ssl = SSL_new(relay->tls);
	if (!p->ssl || SSL_set_fd(p->ssl, p->upstream.fd) != 1 ||
	    SSL_set_tlsext_host_name(p->ssl, relay->rules.host) != 1 ||
	    SSL_set1_host(p->ssl, relay->rules.host) != 1) {
		fail_upstream(p, "TLS could not be set up");
		return;
	}
	SSL_set_hostflags(p->ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	if (relay->session)
		SSL_set_session(p->ssl, relay->session);
	SSL_set_connect_state(p->ssl);
	set_state(p, PAIR_HANDSHAKE);
}

/* True when there is something new. */
static bool go_on_calling(struct pair *p)
{
	int r, code;

	if (p->state == PAIR_CONNECTING) {
		struct sockaddr_storage peer;
		socklen_t len = sizeof(peer);

		code = os_connect_result(p->upstream.fd);
		if (!code && getpeername(p->upstream.fd, (struct sockaddr *)&peer, &len) < 0)
			return false; /* not yet */
		if (!code) {
			begin_tls(p);
			return true;
		}
		drop_upstream(p);
		call(p);
		return true;
	}
	ERR_clear_error();
	r = SSL_do_handshake(p->ssl);
	if (r == 1) {
		set_state(p, PAIR_OPEN);
		return true;
	}
	r = SSL_get_error(p->ssl, r);
	if (r == SSL_ERROR_WANT_READ || r == SSL_ERROR_WANT_WRITE)
		return false;
	fail_upstream(p, SSL_get_verify_result(p->ssl) != X509_V_OK
				 ? "the upstream host's certificate is not trusted"
				 : "the upstream host does not speak TLS with us");
	return true;
}

/* SSL_write() and SSL_read() have the same answers. */
static ssize_t moved(struct pair *p, int r)
{
	int why;

	if (r > 0)
		return r;
	why = SSL_get_error(p->ssl, r);
	if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE)
		p->dead = true; /* the end: what has come was passed on before */
	return 0;
}

static bool push_out(struct pair *p)
{
	ssize_t n;

	if (p->state != PAIR_OPEN || p->out_at == p->out_len)
		return false;
	ERR_clear_error();
	n = moved(p, SSL_write(p->ssl, p->out.data + p->out_at, (int)(p->out_len - p->out_at)));
	p->out_at += (size_t)n;
	if (p->out_at == p->out_len) {
		explicit_bzero(p->out.data, p->out_len);
		p->out_at = p->out_len = 0;
	}
	return n > 0;
}

static bool pull_down(struct pair *p)
{
	ssize_t n;

	if (p->state != PAIR_OPEN || p->down_len)
		return false;
	ERR_clear_error();
	n = moved(p, SSL_read(p->ssl, p->down, (int)DOWN_SIZE));
	p->down_len = (size_t)n;
	p->asked = p->asked && !n;
	return n > 0;
}

/* --- the client --- */

static bool push_down(struct pair *p)
{
	ssize_t n;

	if (p->down_at == p->down_len)
		return false;
	n = send(p->client.fd, p->down + p->down_at, p->down_len - p->down_at, MSG_NOSIGNAL);
	if (n < 0) {
		p->dead |= errno != EAGAIN && errno != EINTR;
		return errno == EINTR;
	}
	p->down_at += (size_t)n;
	if (p->down_at == p->down_len) {
		p->down_at = p->down_len = 0;
		if (p->state == PAIR_CLOSING)
			shutdown(p->client.fd, SHUT_WR);
	}
	return true;
}

static bool pull_in(struct pair *p)
{
	ssize_t n;

	if (p->state == PAIR_CLOSING)
		p->in_len = 0;
	if (p->in_len == IN_SIZE)
		return false;
	n = recv(p->client.fd, p->in + p->in_len, IN_SIZE - p->in_len, 0);
	if (n < 0) {
		p->dead |= errno != EAGAIN && errno != EINTR;
		return errno == EINTR;
	}
	p->dead |= n == 0; /* a client that has gone takes no answer */
	p->in_len += (size_t)n;
	return n > 0;
}

static void took(struct pair *p, size_t n)
{
	p->in_len -= n;
	memmove(p->in, p->in + n, p->in_len);
}

static bool judge_head(struct pair *p)
{
	struct relay *relay = p->relay;
	struct wire_out out = { .p = p->out.data, .size = OUT_SIZE };
	struct relay_request request;

	if (!p->in_len || !relay_request_read(&relay->rules, p->in, p->in_len,
					      (struct blob){ relay->value.data, relay->value_len },
					      &out, &request))
		return false;
	if (request.status) {
		relay_say(relay, "refused", request.why);
		answer(p, request.status, request.why);
		return true;
	}
	relay_touch_value(relay);
	p->asked = true;
	took(p, request.len);
	p->out_len = out.len;
	p->body = request.body;
	if (p->state == PAIR_IDLE)
		begin_call(p);
	return true;
}

static bool pass_body(struct pair *p)
{
	ssize_t n = relay_body_take(&p->body, p->in, MIN(p->in_len, OUT_SIZE - p->out_len));

	if (n < 0) {
		relay_say(p->relay, "refused", "not a body");
		if (p->asked)
			answer(p, 400, "not a body");
		else
			p->dead = true; /* it would be read as part of the answer that has begun */
		return true;
	}
	memcpy(p->out.data + p->out_len, p->in, (size_t)n);
	p->out_len += (size_t)n;
	took(p, (size_t)n);
	return n > 0;
}

/* A head waits until what is before it has gone: it is made at the buffer's beginning. */
static bool judge(struct pair *p)
{
	if (p->state == PAIR_CLOSING)
		return false;
	if (!p->body.done)
		return p->in_len && p->out_len < OUT_SIZE && pass_body(p);
	return !p->out_len && judge_head(p);
}

static void pump(struct pair *p)
{
	struct err err;
	bool more = true;

	for (int i = 0; more && i < ROUNDS && !p->dead; i++) {
		bool moves;

		more = pull_in(p);
		if (p->state == PAIR_CONNECTING || p->state == PAIR_HANDSHAKE)
			more |= go_on_calling(p);
		moves = judge(p);
		more |= push_out(p);
		more |= pull_down(p);
		moves |= push_down(p);
		if (moves)
			p->moved = os_seconds();
		more |= moves;
	}
	/* The end may come with bytes that the client has not taken yet. */
	if (p->dead) {
		while (p->down_at < p->down_len && push_down(p))
			;
		pair_end(p);
		return;
	}
	/* Told again at once. */
	if (more)
		(void)loop_change(&p->relay->loop, &p->client, LOOP_IN | LOOP_OUT | LOOP_EDGE,
				  &err);
}

static int on_client(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	pump(container_of(source, struct pair, client));
	return 0;
}

static int on_upstream(struct loop_source *source, _unused_ uint32_t events,
		       _unused_ struct err *err)
{
	pump(container_of(source, struct pair, upstream));
	return 0;
}

int pair_begin(struct relay *relay, int client, struct err *err)
{
	struct pair *p = calloc(1, sizeof(*p));
	int on = 1;

	if (!p) {
		close(client);
		return err_errno(err, ENOMEM, "a connection");
	}
	setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	*p = (struct pair){
		.relay = relay,
		.next = relay->pairs,
		.link = &relay->pairs,
		.client = { .fd = client, .on_event = on_client },
		.upstream = { .fd = -1 },
		.since = os_seconds(),
		.moved = os_seconds(),
		.in = malloc(IN_SIZE),
		.down = malloc(DOWN_SIZE),
		.body.done = true,
	};
	if (p->next)
		p->next->link = &p->next;
	relay->pairs = p;
	relay->n_pairs++;
	if (!p->in || !p->down || secret_alloc(&p->out, OUT_SIZE, err) < 0 ||
	    loop_add(&relay->loop, &p->client, LOOP_IN | LOOP_OUT | LOOP_EDGE, err) < 0) {
		pair_end(p);
		return err_errno(err, ENOMEM, "a connection");
	}
	return 0;
}

/* It waits for its client, not for the upstream host's answer. */
static bool is_silent(const struct pair *p, int64_t now)
{
	return (p->state == PAIR_IDLE || p->state == PAIR_OPEN) && !(p->asked && p->body.done) &&
	       now - p->moved > SILENT_SECONDS;
}

void pairs_expire(struct relay *relay)
{
	int64_t now = os_seconds();

	for (struct pair *p = relay->pairs, *next; p; p = next) {
		next = p->next;
		if ((p->state == PAIR_CLOSING && now - p->since > CLOSE_SECONDS) ||
		    (!relay->listening && is_silent(p, now))) {
			pair_end(p);
		} else if (p->state >= PAIR_RESOLVING && p->state <= PAIR_HANDSHAKE &&
			   now - p->since > CONNECT_SECONDS) {
			relay->resolving = false; /* no answer has come within its time */
			fail_upstream(p, "the upstream host does not answer");
			pump(p); /* nothing else would send it */
		}
	}
}
