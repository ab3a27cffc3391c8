/* SPDX-License-Identifier: MIT */
/*
 * The daemon's side of the door. Who comes must be this user and outside every sandbox: a sandbox that
 * was given the directory, by a mount of the user's own choice, must not register itself as another.
 */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "notify/daemon/notifyd.h"
#include "notify/scan.h"
#include "os/fs.h"
#include "session/control.h"

#define REQUEST_MAX 16384
#define PLACE_MAX 16384

struct door_conn {
	struct hub *hub;
	struct door_conn *next;
	struct loop_source source;
	struct sender *sender; /* the session that it registered */
};

struct request {
	char op[16], id[16], value[16];
};

static void parse(const char *text, size_t len, struct request *ret)
{
	struct scan s;
	char key[16];

	*ret = (struct request){ .op = "" };
	scan_init(&s, text, len);
	for (bool more = scan_open(&s, '{'); more; more = scan_next(&s, '}'))
		if (!scan_key(&s, key, sizeof(key)))
			return;
		else if (!strcmp(key, "op"))
			scan_text(&s, ret->op, sizeof(ret->op));
		else if (!strcmp(key, "id"))
			scan_text(&s, ret->id, sizeof(ret->id));
		else if (!strcmp(key, "value"))
			scan_text(&s, ret->value, sizeof(ret->value));
		else
			scan_skip(&s);
}

static void reply(const struct door_conn *d, const char *text)
{
	/* Who does not read does not get it. */
	(void)!send(d->source.fd, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* sessions/ID.json; the id is letters and digits, so it leads nowhere else. */
static bool read_place(const struct hub *hub, const char *id, struct place *ret)
{
	_cleanup_free_ char *text = NULL;
	char path[64];
	size_t len;

	if (!*id || id[strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789")])
		return false;
	snprintf(path, sizeof(path), "sessions/%s.json", id);
	return os_read_file_at(hub->dir, path, PLACE_MAX, &text, &len) == 0 &&
	       place_parse(text, len, ret) == 0 && !strcmp(ret->id, id);
}

static bool is_listener(int fd)
{
	struct sockaddr_storage own = { 0 };
	socklen_t len = sizeof(int), size = sizeof(own);
	int value = 0;

	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &value, &len) == 0 && value &&
	       getsockname(fd, (struct sockaddr *)&own, &size) == 0 && own.ss_family == AF_UNIX;
}

/* Takes the descriptor over. */
static void on_register(struct door_conn *d, const struct request *r, int *fd)
{
	struct place place;
	struct err err;

	if (d->sender || *fd < 0 || !is_listener(*fd) || !read_place(d->hub, r->id, &place)) {
		reply(d, "{\"error\":\"this is no session\"}");
		return;
	}
	d->sender = sender_new(d->hub, *fd, &place, &err);
	if (!d->sender)
		return;
	*fd = -1;
	reply(d, "{\"ok\":true}");
}

static void on_status(struct door_conn *d)
{
	_cleanup_str_ struct str out = { 0 };

	hub_status(d->hub, &out);
	reply(d, out.s);
}

static struct sender *host_sender(struct hub *hub)
{
	struct sender *s = hub->senders;

	while (s && !s->host)
		s = s->next;
	return s;
}

static void on_request(struct door_conn *d, const char *text, size_t len, int *fd)
{
	struct request r;
	struct message message;

	parse(text, len, &r);
	if (!strcmp(r.op, "register")) {
		on_register(d, &r, fd);
	} else if (!strcmp(r.op, "focus") && d->sender) {
		d->sender->reported = !strcmp(r.value, "here")        ? FOCUS_HERE
				      : !strcmp(r.value, "elsewhere") ? FOCUS_ELSEWHERE
								      : FOCUS_UNKNOWN;
	} else if (!strcmp(r.op, "message") && d->sender) {
		if (message_parse(text, len, &message) == 0)
			deliver(d->sender, &message, NULL);
	} else if (!strcmp(r.op, "status")) {
		on_status(d);
	} else if (!strcmp(r.op, "test")) {
		static const char test[] =
			"{\"title\":\"wrapix\",\"message\":\"Messages arrive.\"}";

		message_parse(test, strlen(test), &message);
		deliver(host_sender(d->hub), &message, NULL);
		reply(d, "{\"ok\":true}");
	} else {
		reply(d, "{\"error\":\"unknown request\"}");
	}
}

static void door_free(struct door_conn *d)
{
	struct door_conn **link = &d->hub->doors;

	if (d->sender)
		d->sender->gone = true;
	loop_remove(&d->hub->loop, &d->source);
	close(d->source.fd);
	while (*link != d)
		link = &(*link)->next;
	*link = d->next;
	ticker_keep(&d->hub->ticker, true);
	free(d);
}

static int on_packet(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	struct door_conn *d = container_of(source, struct door_conn, source);
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { .iov_base = d->hub->buf, .iov_len = REQUEST_MAX };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(source->fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&msg) : NULL;
	int fd = -1;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0) {
		door_free(d);
		return 0;
	}
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	on_request(d, d->hub->buf, (size_t)n, &fd);
	if (fd >= 0)
		close(fd);
	return 0;
}

void door_take_in(struct listener *door, int taken)
{
	struct hub *hub = container_of(door, struct hub, door);
	_cleanup_close_ int fd = taken;
	bool may = control_may_ask(fd);
	_cleanup_free_ struct door_conn *d = may ? calloc(1, sizeof(*d)) : NULL;
	struct err ignored; /* who is not let in sees the end of the connection */

	hub->stats.refused += !may;
	if (!d)
		return;
	d->hub = hub;
	d->source = (struct loop_source){ .fd = fd, .on_event = on_packet };
	if (loop_add(&hub->loop, &d->source, LOOP_IN, &ignored) < 0)
		return;
	(void)take_fd(&fd);
	d->next = hub->doors;
	hub->doors = TAKE_PTR(d);
}

void door_end_all(struct hub *hub)
{
	while (hub->doors) {
		hub->doors->sender = NULL;
		door_free(hub->doors);
	}
}
