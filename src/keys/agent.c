/* SPDX-License-Identifier: MIT */
/*
 * The ssh-agent's connections.
 *
 * One request is read, exactly, and answered before the next is looked at: each event of the loop is
 * one small piece of work, so that a flood inside delays the supervisor's other guests no more than
 * any other traffic does. Signatures and bindings, which cost more, have a limit of their own.
 *
 *	read 4 bytes -> read the request -> answer --------------------> write -> read 4 bytes ...
 *	                                 `-> wait for the user's yes -'
 *
 * What an attacker controls: how many connections there are, when they stall, every byte. Buffers
 * are of fixed size; at most AGENT_CONNECTIONS exist, and those that ask for nothing make room.
 */
#include "keys/agent.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/json.h"
#include "base/str.h"
#include "os/socket.h"

#define PAUSE_AFTER 5 /* a no, or a question that nobody waits for any more; seconds */

struct key_connection {
	struct key_agent *agent;
	struct key_connection *next, **link;
	struct loop_source source;
	struct key_binding binding;
	pid_t pid;
	int64_t since; /* its last request, in seconds */
	uint8_t in[4 + AGENT_MESSAGE];
	size_t in_len;
	uint8_t out_bytes[AGENT_REPLY];
	struct wire_out out;
	size_t out_at;
	bool waits; /* for the user */
	struct key_wish wish;
};

static void listen_again(struct key_agent *agent)
{
	struct err err; /* tried again */

	agent->listening = loop_add(agent->loop, &agent->listener, LOOP_IN, &err) == 0;
}

/* More wait in the socket's queue. */
static void rest(struct key_agent *agent)
{
	loop_remove(agent->loop, &agent->listener);
	agent->listening = false;
	ticker_keep(&agent->ticker, true);
}

static void drop(struct key_connection *c)
{
	struct key_agent *agent = c->agent;

	loop_remove(agent->loop, &c->source);
	close(c->source.fd);
	*c->link = c->next;
	if (c->next)
		c->next->link = c->link;
	free(c);
	agent->n_connections--;
	if (!agent->listening)
		listen_again(agent);
}

/* Whoever holds a place and asks for nothing must not keep the others out. */
static void on_tick(struct ticker *ticker)
{
	struct key_agent *agent = container_of(ticker, struct key_agent, ticker);
	bool full = !agent->listening;

	for (struct key_connection *c = agent->connections, *next; c; c = next) {
		next = c->next;
		if (full && !c->waits && os_seconds() - c->since > AGENT_SILENCE)
			drop(c);
	}
	if (!agent->listening && agent->n_connections < AGENT_CONNECTIONS)
		listen_again(agent);
	ticker_keep(ticker, !agent->listening);
}

static void count_second(struct key_agent *agent)
{
	int64_t now = os_seconds();

	if (now != agent->second)
		agent->in_second = agent->told_in_second = 0;
	agent->second = now;
}

/* Finding out who it was costs more than answering: not in a flood. */
static void tell(const struct key_connection *c, struct key_event *event)
{
	struct key_agent *agent = c->agent;

	count_second(agent);
	event->name = agent->name;
	event->pid = agent->told_in_second++ < AGENT_NAMED ? c->pid : 0;
	if (agent->hooks.on_event)
		agent->hooks.on_event(agent->hooks.ctx, event);
}

static void deny(struct key_connection *c, enum key_reason reason)
{
	const struct pin *pin = c->binding.pin;
	struct key_event event = { .denied = true, .reason = reason };

	key_refuse(&c->out);
	event.host = pin ? pin->host : NULL;
	tell(c, &event);
}

/* --- answers --- */

static bool is_too_much(struct key_agent *agent)
{
	count_second(agent);
	return agent->in_second++ >= AGENT_PER_SECOND;
}

static void sign(struct key_connection *c)
{
	struct key_agent *agent = c->agent;
	struct key_event event = { .role = c->wish.role, .host = c->wish.host };
	struct err err;
	int r = keyring_sign(&agent->keys, &c->wish, &c->out);

	if (r < 0) {
		err_errno(&err, -r, "signing with '%s'", agent->name);
		agent->hooks.warn(agent->hooks.ctx, &err);
		return;
	}
	event.user = c->wish.role == KEY_DEPLOY ? c->wish.user : NULL;
	event.count = ++agent->count[c->wish.role];
	tell(c, &event);
}

/* Sends what there is of the reply; then the next request may come. */
static void flush(struct key_connection *c)
{
	struct err err;
	ssize_t n = send(c->source.fd, c->out.p + c->out_at, c->out.len - c->out_at,
			 MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		drop(c);
		return;
	}
	c->out_at += n > 0 ? (size_t)n : 0;
	if (c->out_at == c->out.len)
		c->out.len = c->out_at = c->in_len = 0;
	if (loop_change(c->agent->loop, &c->source, c->out.len ? LOOP_OUT : LOOP_IN, &err) < 0)
		drop(c);
}

/* The sandbox chooses it: a word and nothing that could be read as part of the sentence, as another host would be. */
static void add_user(struct str *out, const char *user)
{
	for (; *user; user++)
		str_addf(out,
			 isascii(*user) && (isalnum((unsigned char)*user) || strchr("._-", *user))
				 ? "%c"
				 : "\\x%02x",
			 (unsigned char)*user);
}

static void question(struct str *out, const struct key_connection *c)
{
	str_addf(out, "wrapix: may the sandbox use the %s key '%s'", key_role_name(c->wish.role),
		 c->agent->name);
	if (c->wish.role == KEY_DEPLOY) {
		str_add(out, " to log in as ");
		add_user(out, c->wish.user);
		str_add(out, "@");
		str_add_escaped(out, c->wish.host);
	} else {
		str_add(out, " to sign for git");
	}
	str_add(out, "?");
}

/* Asks for the next one that waits, if nobody is being asked. */
static void ask_next(struct key_agent *agent)
{
	for (struct key_connection *c = agent->connections, *next; c && !agent->asked; c = next) {
		_cleanup_str_ struct str text = { 0 };
		struct err err;

		next = c->next;
		if (!c->waits)
			continue;
		question(&text, c);
		if (os_seconds() >= agent->refused_until) {
			if (confirm_ask(&agent->confirm, agent->confirm_by, text.s, &err) == 0) {
				agent->asked = c;
				return;
			}
			agent->hooks.warn(agent->hooks.ctx, &err);
		}
		c->waits = false;
		deny(c, KEY_NOT_CONFIRMED);
		flush(c);
	}
}

static void on_answer(void *ctx, bool yes)
{
	struct key_agent *agent = ctx;
	struct key_connection *c = TAKE_PTR(agent->asked);

	if (!yes)
		agent->refused_until = os_seconds() + PAUSE_AFTER;
	c->waits = false;
	if (yes)
		sign(c);
	else
		deny(c, KEY_NOT_CONFIRMED);
	flush(c);
	ask_next(agent);
}

/* Whoever it was for has hung up. Else dialogs would come and go until one is answered by chance. */
static void give_up(struct key_connection *c)
{
	struct key_agent *agent = c->agent;

	if (agent->asked == c) {
		confirm_cancel(&agent->confirm);
		agent->asked = NULL;
		agent->refused_until = os_seconds() + PAUSE_AFTER;
	}
	drop(c);
	ask_next(agent);
}

static void answer(struct key_connection *c)
{
	struct key_agent *agent = c->agent;
	const struct blob request = { c->in + 4, c->in_len - 4 };
	enum key_reason reason = KEY_MALFORMED;
	enum key_outcome outcome;

	c->since = os_seconds();
	if (key_request_is_dear(request) && is_too_much(agent)) {
		deny(c, KEY_TOO_MANY);
		flush(c);
		return;
	}
	outcome = key_request(&agent->keys, &c->binding, request, &c->out, &c->wish, &reason);
	if (outcome == KEY_WISH && agent->confirm_by) {
		struct err err;

		c->out.len = 0;
		c->waits = true;
		/* Nothing is read until there is an answer; that it goes away is seen then. */
		if (loop_change(agent->loop, &c->source, 0, &err) < 0) {
			drop(c);
			return;
		}
		ask_next(agent);
		return;
	}
	if (outcome == KEY_WISH)
		sign(c);
	else if (outcome == KEY_DENIED)
		deny(c, reason);
	flush(c);
}

/* --- connections --- */

/* How much of the request there is to be; 0 as long as its length is not known. */
static size_t request_len(const struct key_connection *c)
{
	struct blob in = { c->in, c->in_len };
	uint32_t len;

	return wire_u32(&in, &len) ? (size_t)4 + len : 0;
}

static int on_peer(struct loop_source *source, uint32_t events, struct err *err)
{
	struct key_connection *c = container_of(source, struct key_connection, source);
	size_t whole = request_len(c);
	ssize_t n;

	(void)err;
	if (c->waits) { /* it hung up, and nothing else is watched for */
		give_up(c);
		return 0;
	}
	if (events & LOOP_OUT) {
		flush(c);
		return 0;
	}
	n = recv(source->fd, c->in + c->in_len, (whole ? whole : 4) - c->in_len, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0) {
		drop(c);
		return 0;
	}
	c->in_len += (size_t)n;
	whole = request_len(c);
	if (whole && (whole < 5 || whole > sizeof(c->in))) {
		deny(c, KEY_MALFORMED);
		drop(c);
	} else if (whole && c->in_len == whole) {
		answer(c);
	}
	return 0;
}

static pid_t peer_of(int fd)
{
	uid_t uid;
	pid_t pid;

	return os_peer(fd, &uid, &pid) ? pid : 0;
}

static void add_connection(struct key_agent *agent, int fd)
{
	struct key_connection *c = calloc(1, sizeof(*c));
	struct err err;

	if (!c) {
		close(fd);
		return;
	}
	c->agent = agent;
	c->source = (struct loop_source){ .fd = fd, .on_event = on_peer };
	c->pid = peer_of(fd);
	c->since = os_seconds();
	c->out = (struct wire_out){ .p = c->out_bytes, .size = sizeof(c->out_bytes) };
	c->next = agent->connections;
	c->link = &agent->connections;
	if (c->next)
		c->next->link = &c->next;
	agent->connections = c;
	agent->n_connections++;
	if (loop_add(agent->loop, &c->source, LOOP_IN, &err) < 0)
		drop(c);
}

static int on_listener(struct loop_source *source, uint32_t events, struct err *err)
{
	struct key_agent *agent = container_of(source, struct key_agent, listener);
	int fd = accept4(source->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	(void)events;
	(void)err;
	if (fd >= 0)
		add_connection(agent, fd);
	/* Without a descriptor to accept with the loop would spin. */
	if (fd < 0 && os_is_exhausted(errno)) {
		struct err why;

		err_errno(&why, errno, "the ssh-agent cannot take a connection in now");
		if (!agent->warned)
			agent->hooks.warn(agent->hooks.ctx, &why);
		agent->warned = true;
		rest(agent);
	} else if (agent->n_connections == AGENT_CONNECTIONS) {
		rest(agent);
	}
	return 0;
}

int key_agent_start(struct key_agent *agent, struct loop *loop, int listener,
		    struct keyring *keyring, const char *name, const char *confirm_by,
		    const struct key_agent_hooks *hooks, struct err *err)
{
	int r;

	*agent = (struct key_agent){
		.loop = loop,
		.listener = { .fd = listener, .on_event = on_listener },
		.keys = *keyring,
		.name = name,
		.confirm_by = confirm_by,
		.hooks = *hooks,
	};
	*keyring = (struct keyring){ .memory = { 0 } };
	r = confirm_by ? confirm_start(&agent->confirm, loop, on_answer, agent, err) : 0;
	if (r == 0)
		r = ticker_start(&agent->ticker, loop, on_tick, err);
	if (r == 0)
		r = loop_add(loop, &agent->listener, LOOP_IN, err);
	agent->listening = r == 0;
	return r;
}

void key_agent_stop(struct key_agent *agent)
{
	if (!agent->loop)
		return;
	confirm_stop(&agent->confirm);
	while (agent->connections)
		drop(agent->connections);
	ticker_stop(&agent->ticker);
	loop_remove(agent->loop, &agent->listener);
	close(agent->listener.fd);
	keyring_release(&agent->keys);
	agent->loop = NULL;
}

/* --- events --- */

static void add_member(struct str *out, const char *key, const char *value)
{
	if (!value)
		return;
	str_addf(out, ",\"%s\":", key);
	json_add_string(out, value);
}

void key_event_add(struct str *out, const struct key_event *event)
{
	if (event->denied) {
		str_add(out, "\"type\":\"deny\",\"what\":\"sign\"");
		add_member(out, "name", event->host ? event->host : "ssh-agent");
		add_member(out, "reason", key_reason_name(event->reason));
		return;
	}
	str_add(out, "\"type\":\"signature\"");
	add_member(out, "key", key_role_name(event->role));
	add_member(out, "keyName", event->name);
	add_member(out, "name", event->host);
	add_member(out, "user", event->user);
	str_addf(out, ",\"number\":%llu", (unsigned long long)event->count);
}
