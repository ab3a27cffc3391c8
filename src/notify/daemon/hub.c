/* SPDX-License-Identifier: MIT */
/* The daemon's sockets and senders, from the start to the end. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#include "notify/daemon/notifyd.h"
#include "notify/door.h"
#include "os/fs.h"
#include "session/control.h"

#define TCP_PORT 5959

void hub_note(struct hub *hub, const char *sender, const char *title, const char *fmt, ...)
{
	struct outcome *o = &hub->outcomes[hub->n_outcomes++ % OUTCOMES];
	char line[400];
	va_list ap;

	*o = (struct outcome){ .at = time(NULL) };
	snprintf(o->sender, sizeof(o->sender), "%s", sender);
	message_set(o->title, sizeof(o->title), title, false);
	va_start(ap, fmt);
	vsnprintf(o->text, sizeof(o->text), fmt, ap);
	va_end(ap);
	if (!hub->verbose)
		return;
	snprintf(line, sizeof(line), "%s: '%s': %s", o->sender, o->title, o->text);
	hub->log(line);
}

/* --- senders --- */

struct sender *sender_new(struct hub *hub, int listener, const struct place *place, struct err *err)
{
	struct sender *s = calloc(1, sizeof(*s));

	if (!s) {
		err_errno(err, ENOMEM, "a sender");
		return NULL;
	}
	s->hub = hub;
	s->host = !place;
	s->tokens = RATE_BURST;
	if (place)
		s->place = *place;
	else
		snprintf(s->place.id, sizeof(s->place.id), "host");
	(void)quiet_parse(s->place.quiet, &s->quiet); /* what is no time was refused by the spec */
	s->listener = (struct loop_source){ .fd = listener, .on_event = conn_accept };
	fcntl(listener, F_SETFL, O_NONBLOCK);
	if (loop_add(&hub->loop, &s->listener, LOOP_IN, err) < 0) {
		free(s);
		return NULL;
	}
	s->next = hub->senders;
	hub->senders = s;
	ticker_keep(&hub->ticker, true);
	return s;
}

static void sender_free(struct sender *s)
{
	struct sender **link = &s->hub->senders;

	deliver_cancel(s);
	conn_end_all(s->hub, s);
	loop_remove(&s->hub->loop, &s->listener);
	if (s->listener.fd >= 0)
		close(s->listener.fd);
	while (*link != s)
		link = &(*link)->next;
	*link = s->next;
	free(s);
}

static bool sender_busy(const struct sender *s)
{
	return s->n_conns || s->stage != STAGE_IDLE || s->has_next;
}

/* What is left of those whose supervisor has gone, and with it everything inside. Lines that are still
 * in the sockets count, so the connections are read to their ends first. */
static void sweep(struct hub *hub)
{
	for (struct sender *s = hub->senders, *next; s; s = next) {
		next = s->next;
		if (s->gone && !sender_busy(s))
			sender_free(s);
	}
}

/* On demand: ends when nobody is left. */
static void look_around(struct hub *hub)
{
	bool busy = job_busy(&hub->raise), senders = false;

	sweep(hub);
	for (struct sender *s = hub->senders; s; s = s->next) {
		busy |= sender_busy(s);
		senders |= !s->host;
	}
	for (size_t i = 0; i < WEBHOOKS; i++)
		busy |= job_busy(&hub->webhooks[i]);
	if (!busy && !senders)
		hub->loop.done = hub->on_demand;
	ticker_keep(&hub->ticker, busy || senders || hub->on_demand);
}

static void on_tick(struct ticker *ticker)
{
	struct hub *hub = container_of(ticker, struct hub, ticker);

	conn_make_room();
	conn_resume(hub);
	deliver_tick(hub);
	look_around(hub);
}

/* --- sockets --- */

/* By way of the descriptor: the real path may be longer than a socket's may be. */
static int listen_at(struct hub *hub, const char *name, int type, mode_t mode, struct err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", hub->dir, name);
	unlinkat(hub->dir, name, 0); /* the lock is ours: whose it was is dead */
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    fchmodat(hub->dir, name, mode, 0) < 0 || listen(fd, 128) < 0)
		return err_errno(err, errno, "listening on '%s/wrapix/%s'", hub->path, name);
	return take_fd(&fd);
}

static bool is_kind(int fd, int type)
{
	int got = 0;
	socklen_t len = sizeof(got);

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &got, &len) == 0 && got == type;
}

/* systemd's way: descriptors from 3 on, for this very process. */
static int activated(int type)
{
	const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");

	if (!pid || !count || strtol(pid, NULL, 10) != getpid())
		return -1;
	for (int fd = 3; fd < 3 + MIN(strtol(count, NULL, 10), 8L); fd++)
		if (is_kind(fd, type)) {
			fcntl(fd, F_SETFD, FD_CLOEXEC);
			fcntl(fd, F_SETFL, O_NONBLOCK);
			return fd;
		}
	return -1;
}

static int open_sockets(struct hub *hub, struct err *err)
{
	int lines = activated(SOCK_STREAM), door = activated(SOCK_SEQPACKET);

	hub->activated = door >= 0;
	if (door < 0)
		door = listen_at(hub, DOOR_NAME, SOCK_SEQPACKET, CONTROL_MODE, err);
	if (door < 0)
		return door;
	hub->door = (struct listener)LISTENER(door, door_take_in);
	if (lines < 0)
		lines = listen_at(hub, "notify.sock", SOCK_STREAM, 0600, err);
	if (lines < 0)
		return lines;
	if (!sender_new(hub, lines, NULL, err))
		return -err->code;
	return listener_start(&hub->door, &hub->loop, err);
}

/* One daemon a directory; -EEXIST when there is one. */
static int lock(struct hub *hub, struct err *err)
{
	_cleanup_str_ struct str path = { 0 };
	int r;

	str_addf(&path, "%s/wrapix", hub->path);
	r = os_mkdirs(path.s, 0700, err);
	if (r < 0)
		return r;
	hub->dir = open(path.s, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (hub->dir < 0)
		return err_errno(err, errno, "opening '%s'", path.s);
	hub->locks = openat(hub->dir, "notifyd.lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
			    0600);
	if (hub->locks < 0)
		return err_errno(err, errno, "opening '%s/notifyd.lock'", path.s);
	if (flock(hub->locks, LOCK_EX | LOCK_NB) < 0)
		return err_set(err, EEXIST, "a wrapix-notifyd is running for '%s'", path.s);
	return 0;
}

/* Hundreds of clients, each a descriptor. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = MIN(limit.rlim_max, (rlim_t)16384);
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

int hub_open(struct hub *hub, struct err *err)
{
	struct bus_hooks hooks = deliver_bus_hooks;
	int r;

	hub->dir = hub->locks = hub->door.source.fd = hub->tcp.fd = hub->loop.fd = -1;
	raise_limit();
	r = lock(hub, err);
	if (r == 0)
		r = loop_init(&hub->loop, err);
	if (r == 0)
		r = ticker_start(&hub->ticker, &hub->loop, on_tick, err);
	if (r == 0)
		r = open_sockets(hub, err);
	if (r < 0)
		return r;
	hooks.ctx = hub;
	hub->bus = bus_new(&hub->loop, NULL, &hooks);
	return hub->bus ? 0 : err_errno(err, ENOMEM, "the bus");
}

void hub_close(struct hub *hub)
{
	while (hub->senders)
		sender_free(hub->senders);
	conn_end_all(hub, NULL);
	door_end_all(hub);
	for (size_t i = 0; i < WEBHOOKS; i++)
		job_cancel(&hub->webhooks[i]);
	job_cancel(&hub->raise);
	bus_free(hub->bus);
	listener_stop(&hub->door);
	ticker_stop(&hub->ticker);
	for (size_t i = 0; i < 4; i++) {
		int fd = (int[]){ hub->door.source.fd, hub->tcp.fd, hub->dir, hub->locks }[i];

		if (fd >= 0)
			close(fd);
	}
	loop_release(&hub->loop);
}

/* For sandboxes that are virtual machines. Never on all addresses: whoever reaches the port may write
 * on the user's screen. */
int hub_listen_tcp(struct hub *hub, const char *text, struct err *err)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(TCP_PORT) };
	_cleanup_close_ int fd = -1;
	size_t len = strcspn(text, ":");
	char host[64];
	unsigned long port = text[len] ? strtoul(text + len + 1, NULL, 10) : TCP_PORT;

	snprintf(host, sizeof(host), "%.*s", (int)len, text);
	if (inet_pton(AF_INET, host, &address.sin_addr) != 1 || !port || port > 65535)
		return err_usage(err, "--tcp: '%s' is no ADDRESS[:PORT]", text);
	if (address.sin_addr.s_addr == INADDR_ANY)
		return err_usage(err, "--tcp: every address would be everybody's; name one");
	address.sin_port = htons((uint16_t)port);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, 128) < 0)
		return err_errno(err, errno, "listening on %s", text);
	return sender_new(hub, take_fd(&fd), NULL, err) ? 0 : -err->code;
}
