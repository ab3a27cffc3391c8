/* SPDX-License-Identifier: MIT */
/*
 * Connections that bring lines.
 *
 * A client is bound to its sender by the socket that it came through, and must be of this user. Bytes
 * are read into one buffer of the hub's; only the beginning of a line that is not complete is kept, and
 * of all those together no more than STASH_MAX. A line that is too long is passed over to its end.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "notify/daemon/notifyd.h"
#include "os/socket.h"

struct conn {
	struct sender *sender;
	struct conn *next;
	struct loop_source source;
	int64_t since; /* its last line, in seconds */
	char *stash;   /* the beginning of a line */
	size_t len;
	bool skipping; /* the rest of a line that is too long */
	bool waits;    /* for the user's answer */
	bool read_out; /* the client has said all */
	bool goes;
};

static struct conn *conns; /* the daemon has one hub */

static void set_stash(struct conn *c, const char *bytes, size_t len)
{
	struct hub *hub = c->sender->hub;

	hub->stash_bytes -= c->len;
	if (!len) {
		free(c->stash);
		c->stash = NULL;
	} else {
		char *copy = malloc(len);

		if (copy)
			memcpy(copy, bytes, len);
		else
			len = 0;
		free(c->stash);
		c->stash = copy;
	}
	c->len = len;
	hub->stash_bytes += len;
}

static void conn_free(struct conn *c)
{
	struct sender *sender = c->sender;
	struct conn **link = &conns;

	set_stash(c, NULL, 0);
	deliver_forget(sender->hub, c);
	loop_remove(&sender->hub->loop, &c->source);
	close(c->source.fd);
	while (*link != c)
		link = &(*link)->next;
	*link = c->next;
	free(c);
	sender->n_conns--;
	sender->hub->n_conns--;
	conn_resume(sender->hub);
}

static void take_line(struct conn *c, const char *line, size_t len)
{
	struct stats *stats = &c->sender->hub->stats;
	struct message message;

	c->since = os_seconds();
	while (len && line[len - 1] == '\r')
		len--;
	if (len > MESSAGE_LINE_MAX)
		stats->too_long++;
	else if (len && message_parse(line, len, &message) < 0)
		stats->malformed++;
	else if (len)
		deliver(c->sender, &message, message.wait ? c : NULL);
}

/* Keeps what is not a whole line yet. */
static void keep(struct conn *c, const char *rest, size_t len)
{
	struct hub *hub = c->sender->hub;

	if (len > MESSAGE_LINE_MAX || hub->stash_bytes - c->len + len > STASH_MAX) {
		hub->stats.too_long++;
		c->skipping = true;
		len = 0;
	}
	set_stash(c, rest, len);
}

static void take_bytes(struct conn *c, const char *at, size_t len)
{
	const char *end = at + len, *newline;

	while (at < end && (newline = memchr(at, '\n', (size_t)(end - at)))) {
		if (!c->skipping)
			take_line(c, at, (size_t)(newline - at));
		c->skipping = false;
		at = newline + 1;
	}
	keep(c, at, c->skipping ? 0 : (size_t)(end - at));
}

/* The last line counts without its newline, too. */
static void take_rest(struct conn *c)
{
	char *buf = c->sender->hub->buf;
	size_t len = c->len;

	memcpy(buf, c->stash ? c->stash : "", len);
	set_stash(c, NULL, 0);
	if (len)
		take_line(c, buf, len);
}

static void end_of_input(struct conn *c)
{
	struct err err;

	take_rest(c);
	c->read_out = true;
	/* Who waits is told by the answer, or noticed when he hangs up. */
	if (!c->waits || loop_change(&c->sender->hub->loop, &c->source, 0, &err) < 0)
		conn_free(c);
}

static int on_bytes(struct loop_source *source, uint32_t events, _unused_ struct err *err)
{
	struct conn *c = container_of(source, struct conn, source);
	char *buf = c->sender->hub->buf;
	size_t had = c->len;
	ssize_t n;

	if (c->read_out) {
		if (events & (LOOP_HUP | LOOP_ERR))
			conn_free(c);
		return 0;
	}
	memcpy(buf, c->stash ? c->stash : "", had);
	n = recv(source->fd, buf + had, MESSAGE_LINE_MAX, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n > 0)
		take_bytes(c, buf, had + (size_t)n);
	else
		end_of_input(c);
	return 0;
}

/* --- coming --- */

static bool is_ours(int fd)
{
	struct sockaddr_storage own = { 0 };
	socklen_t len = sizeof(own);
	uid_t uid;

	/* Over TCP nobody has a name; such a socket is opened by the user's wish alone. */
	if (getsockname(fd, (struct sockaddr *)&own, &len) == 0 && own.ss_family != AF_UNIX)
		return true;
	return os_peer(fd, &uid, NULL) && uid == geteuid();
}

static void rest(struct sender *sender)
{
	struct err err;

	sender->full = loop_change(&sender->hub->loop, &sender->listener, 0, &err) == 0;
}

void conn_resume(struct hub *hub)
{
	struct err err;

	for (struct sender *s = hub->senders; s; s = s->next)
		if (s->full && s->n_conns < SENDER_CONNS)
			s->full = loop_change(&hub->loop, &s->listener, LOOP_IN, &err) < 0;
}

/* What it has written is taken first. */
static bool is_silent(const struct conn *c)
{
	char byte;

	return !c->waits && os_seconds() - c->since > SENDER_SILENCE &&
	       recv(c->source.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0;
}

/* Whoever holds a place and says nothing must not keep the others of its sandbox out. */
void conn_make_room(void)
{
	/* First who goes: the first that has gone makes room already. */
	for (struct conn *c = conns; c; c = c->next)
		c->goes = c->sender->full && is_silent(c);
	for (struct conn *c = conns, *next; c; c = next) {
		next = c->next;
		if (c->goes)
			conn_free(c);
	}
}

static void conn_new(struct sender *sender, int fd)
{
	struct conn *c = calloc(1, sizeof(*c));
	struct err err;

	if (!c || !is_ours(fd)) {
		sender->hub->stats.refused++;
		close(fd);
		free(c);
		return;
	}
	c->sender = sender;
	c->since = os_seconds();
	c->source = (struct loop_source){ .fd = fd, .on_event = on_bytes };
	if (loop_add(&sender->hub->loop, &c->source, LOOP_IN, &err) < 0) {
		close(fd);
		free(c);
		return;
	}
	c->next = conns;
	conns = c;
	sender->n_conns++;
	sender->hub->n_conns++;
}

int conn_accept(struct loop_source *listener, _unused_ uint32_t events, _unused_ struct err *err)
{
	struct sender *sender = container_of(listener, struct sender, listener);
	int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0)
		conn_new(sender, fd);
	/* Without descriptors the backlog has to wait; the tick looks again. */
	if (sender->n_conns >= SENDER_CONNS || (fd < 0 && (errno == EMFILE || errno == ENFILE)))
		rest(sender);
	return 0;
}

/* --- going --- */

void conn_answer(struct conn *c, const char *action)
{
	_cleanup_str_ struct str line = { 0 };

	str_add(&line, "{\"action\":\"");
	for (; *action; action++)
		str_addf(&line, *action == '"' || *action == '\\' ? "\\%c" : "%c", *action);
	str_add(&line, "\"}\n");
	(void)!send(c->source.fd, line.s, line.len, MSG_DONTWAIT | MSG_NOSIGNAL);
	c->waits = false;
	if (c->read_out)
		conn_free(c);
}

void conn_wait(struct conn *c)
{
	c->waits = true;
}

void conn_end_all(struct hub *hub, const struct sender *sender)
{
	struct conn *c = conns, *next;

	(void)hub;
	for (; c; c = next) {
		next = c->next;
		if (!sender || c->sender == sender)
			conn_free(c);
	}
}
