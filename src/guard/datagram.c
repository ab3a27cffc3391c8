/* SPDX-License-Identifier: MIT */
/*
 * The supervisor's ends of datagram sockets, and carrying messages from one to another. Nobody is waited for: a message
 * that has no room waits here, in limits for all of them, and who sent it does not send another meanwhile.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/datagram_priv.h"
#include "os/linux/brief.h"
#include "os/timer.h"

enum {
	SOCKETS_MAX = 256,
	SENDERS_MAX = 512, /* more messages than a socket's buffer takes */
	AT_ONCE = 16,
	TICK_MS = 50,
	WAITING_FDS = 256, /* of all messages that wait */
	WAITING_BYTES = 16 << 20,
};

static uint64_t cookie_of(int socket)
{
	uint64_t cookie = 0;
	socklen_t len = sizeof(cookie);

	return getsockopt(socket, SOL_SOCKET, SO_COOKIE, &cookie, &len) < 0 ? 0 : cookie;
}

struct datagram *datagram_find(const struct connect_guard *g, int socket)
{
	uint64_t cookie = g->datagrams ? cookie_of(socket) : 0;
	struct datagram *d = cookie ? g->datagrams->first : NULL;

	while (d && d->cookie != cookie)
		d = d->next;
	return d;
}

bool datagram_is(const struct connect_guard *g, int socket)
{
	return datagram_find(g, socket) != NULL;
}

struct datagram *datagram_find_name(const struct connect_guard *g, const struct sockaddr_un *un,
				    socklen_t len)
{
	struct datagram *d = g->datagrams ? g->datagrams->first : NULL;

	while (d && (d->ino || d->name.len != len || memcmp(&d->name.un, un, len) != 0))
		d = d->next;
	return d;
}

struct datagram *datagram_find_file(const struct connect_guard *g, const struct stat *st)
{
	struct datagram *d = g->datagrams ? g->datagrams->first : NULL;

	while (d && (d->ino != st->st_ino || d->dev != st->st_dev))
		d = d->next;
	return d;
}

/* ------------------------------------------------------------------ delivery */

/* The call that waits for it is answered. */
static void settle(struct connect_guard *g, struct letter *l, int result)
{
	if (l->call.id && result < 0)
		notify_answer(g->notify, l->call.id, result);
	else if (l->call.id)
		notify_answer_value(g->notify, l->call.id, l->counts ? 1 : (int64_t)l->len);
	letter_free(l);
}

static void add_sender(struct datagram *to, const struct datagram *from)
{
	struct sender *s = calloc(1, sizeof(*s)), **at = &to->senders;
	size_t n = 0;

	if (!s)
		abort();
	if (from)
		s->name = from->name;
	for (; *at; at = &(*at)->next)
		n++;
	*at = s;
	if (n >= SENDERS_MAX) { /* the first were read without being asked for */
		s = to->senders;
		to->senders = s->next;
		free(s);
	}
}

static void drop_senders(struct datagram *d)
{
	while (d->senders) {
		struct sender *s = d->senders;

		d->senders = s->next;
		free(s);
	}
}

int datagram_deliver(struct datagram *to, const struct letter *l)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(DATAGRAM_FDS * sizeof(int))];
	} control = { .space = { 0 } };
	struct iovec part = { (void *)l->text, l->len };
	struct msghdr msg = { .msg_iov = &part, .msg_iovlen = 1 };
	int unread = 0;

	if (to->cookie && to->peer && to->peer != l->from)
		return -EPERM;
	if (l->n_fds) {
		msg.msg_control = control.space;
		msg.msg_controllen = CMSG_SPACE(l->n_fds * sizeof(int));
		control.align = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
						  .cmsg_type = SCM_RIGHTS,
						  .cmsg_len = CMSG_LEN(l->n_fds * sizeof(int)) };
		memcpy(CMSG_DATA(&control.align), l->fds, l->n_fds * sizeof(int));
	}
	/* What was read without asking for its sender leaves one too many here. */
	if (to->cookie && ioctl(to->end.fd, TIOCOUTQ, &unread) == 0 && unread == 0)
		drop_senders(to);
	if (sendmsg(to->end.fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return errno == EPIPE || errno == ECONNRESET ? -ECONNREFUSED : -errno;
	if (to->cookie)
		add_sender(to, l->from);
	datagram_try_receivers(to);
	return 0;
}

/* ------------------------------------------------------------------ the loop */

static void start_ticks(struct datagrams *all)
{
	if (!all->ticks)
		all->ticks = os_timer_set(all->timer.fd, TICK_MS, TICK_MS) == 0;
}

int datagram_waits(const struct seccomp_notif *call, int64_t deadline)
{
	if (caller_is_interrupted(call))
		return -ERESTARTSYS;
	return deadline && os_now_ms() >= deadline ? -EAGAIN : 0;
}

static void watch(struct datagram *d)
{
	struct loop *loop = d->all->guard->loop;
	uint32_t events = (d->waiting ? LOOP_OUT : 0) |
			  (d->cookie && !d->stopped && !d->deaf ? LOOP_IN : 0);
	/* Its end would be told for as long as it is watched. */
	bool wanted = events || (d->cookie && !d->stopped);
	struct err ignored;

	if (d->watched && !wanted)
		loop_remove(loop, &d->end);
	else if (d->watched)
		(void)loop_change(loop, &d->end, events, &ignored);
	d->watched = wanted && (d->watched || loop_add(loop, &d->end, events, &ignored) == 0);
}

bool datagram_may_wait(const struct datagrams *all, const struct letter *l)
{
	size_t fds = l->n_fds, bytes = l->len;

	for (const struct datagram *d = all->first; d; d = d->next)
		for (const struct letter *w = d->waiting; w; w = w->next) {
			fds += w->n_fds;
			bytes += w->len;
		}
	return bytes <= WAITING_BYTES && (!l->n_fds || fds <= WAITING_FDS);
}

void datagram_wait(struct datagram *to, struct letter *l)
{
	struct letter **at = &to->waiting;

	while (*at)
		at = &(*at)->next;
	*at = l;
	if (!l->call.id)
		l->from->stopped = true;
	else
		start_ticks(to->all);
	watch(to);
}

/* One that waited is through. */
static void take_out(struct datagram *to, struct letter **at, int result)
{
	struct letter *l = *at;
	struct datagram *from = l->call.id ? NULL : l->from;

	*at = l->next;
	settle(to->all->guard, l, result);
	if (from) {
		from->stopped = false;
		watch(from);
	}
}

static void flush(struct datagram *to)
{
	const struct notify *notify = to->all->guard->notify;

	while (to->waiting) {
		struct letter *l = to->waiting;
		int r = l->call.id && !notify_is_valid(notify, l->call.id)
				? -EINTR
				: datagram_deliver(to, l);

		if (r == -EAGAIN)
			break;
		take_out(to, &to->waiting, r);
	}
}

/* The next message out of the sandbox: 1; 0: none yet; -errno: there will be none. */
static int take_letter(struct datagram *d, struct letter **ret)
{
	struct pollfd state = { .fd = d->end.fd, .events = POLLRDHUP };
	int r;

	*ret = letter_take(d->end.fd, 0, &r);
	if (!*ret)
		return r == -EAGAIN || r == -EINTR ? 0 : r;
	(*ret)->from = d;
	/* Nothing at all is a message, too, unless it is the end. */
	if ((*ret)->len || (*ret)->n_fds || poll(&state, 1, 0) <= 0 ||
	    !(state.revents & (POLLHUP | POLLRDHUP)))
		return 1;
	letter_free(*ret);
	d->deaf = true;
	return state.revents & POLLHUP ? -EPIPE : 0;
}

/* 1: there may be more; -errno: the socket is gone. */
static int carry(struct datagram *d)
{
	struct letter *l;
	int r = 0;

	for (int i = 0; i < AT_ONCE && !d->stopped && (r = take_letter(d, &l)) > 0; i++) {
		if (d->peer && datagram_deliver(d->peer, l) == -EAGAIN &&
		    datagram_may_wait(d->all, l))
			datagram_wait(d->peer, l);
		else
			letter_free(l); /* it arrived, or there is nobody who would take it */
	}
	return r;
}

static int on_event(struct loop_source *source, uint32_t events, _unused_ struct err *err)
{
	struct datagram *d = container_of(source, struct datagram, end);
	int r = 0;

	if (d->cookie && (events & LOOP_HUP))
		while (d->waiting)
			take_out(d, &d->waiting, -ECONNREFUSED);
	if (events & (LOOP_OUT | LOOP_ERR))
		flush(d);
	if (d->cookie)
		r = carry(d);
	if (r < 0 || (d->temporary && !d->waiting))
		datagram_release(d);
	else
		watch(d);
	return 0;
}

/* ------------------------------------------------------------------ ends */

static void give_up_waiting(struct datagram *to)
{
	for (struct letter **at = &to->waiting; *at;) {
		int r = (*at)->call.id ? datagram_waits(&(*at)->call, (*at)->deadline) : 0;

		if (r < 0)
			take_out(to, at, r);
		else
			at = &(*at)->next;
	}
}

static int on_tick(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	struct datagrams *all = container_of(source, struct datagrams, timer);
	bool busy = false;

	if (!os_timer_take(source->fd))
		return 0;
	for (struct datagram *d = all->first, *next; d; d = next) {
		next = d->next;
		datagram_try_receivers(d);
		give_up_waiting(d);
		busy |= d->receivers || d->waiting;
		if (d->temporary && !d->waiting)
			datagram_release(d);
	}
	if (!busy)
		os_timer_set(source->fd, 0, 0);
	all->ticks = busy;
	return 0;
}

void datagram_add_receiver(struct datagram *d, const struct seccomp_notif *call, int socket)
{
	struct receiver *r = calloc(1, sizeof(*r)), **at = &d->receivers;

	if (!r)
		abort();
	r->call = *call;
	r->deadline = connect_deadline(socket, SO_RCVTIMEO);
	while (*at)
		at = &(*at)->next;
	*at = r;
	start_ticks(d->all);
}

static struct datagrams *all_of(struct connect_guard *g)
{
	struct datagrams *all = g->datagrams;
	struct err ignored;

	if (all)
		return all;
	all = calloc(1, sizeof(*all));
	if (!all)
		return NULL;
	*all = (struct datagrams){ .guard = g,
				   .timer = { .fd = os_timer_open(), .on_event = on_tick } };
	if (all->timer.fd < 0 || loop_add(g->loop, &all->timer, LOOP_IN, &ignored) < 0) {
		close_ptr(&all->timer.fd);
		free(all);
		return NULL;
	}
	return g->datagrams = all;
}

struct datagram *datagram_new(struct connect_guard *g, int fd, uint64_t cookie)
{
	struct datagrams *all = fd < 0 ? NULL : all_of(g);
	struct datagram *d = all && all->n < SOCKETS_MAX ? calloc(1, sizeof(*d)) : NULL;

	if (!d) {
		close_ptr(&fd);
		return NULL;
	}
	*d = (struct datagram){ .end = { .fd = fd, .on_event = on_event },
				.all = all,
				.next = all->first,
				.cookie = cookie };
	all->first = d;
	all->n++;
	watch(d);
	return d;
}

void datagram_set_peer(struct datagram *d, struct datagram *peer)
{
	struct datagram *old = d->peer;

	if (old == peer)
		return;
	d->peer = peer;
	if (old && !old->cookie)
		datagram_release(old);
}

/* Nobody sends to it or by it any more. */
static void forget(struct datagrams *all, struct datagram *d)
{
	for (struct datagram *o = all->first; o; o = o->next) {
		if (o->peer == d)
			o->peer = NULL;
		for (struct letter *l = o->waiting; l; l = l->next)
			if (l->from == d)
				l->from = NULL;
	}
}

void datagram_release(struct datagram *d)
{
	struct datagrams *all = d->all;
	struct datagram **at = &all->first;

	while (d->waiting)
		take_out(d, &d->waiting, -ECONNREFUSED);
	while (*at != d)
		at = &(*at)->next;
	*at = d->next;
	all->n--;
	if (d->watched)
		loop_remove(all->guard->loop, &d->end);
	brief_close_ptr(&d->end.fd);
	while (d->receivers) {
		struct receiver *r = d->receivers;

		notify_answer(all->guard->notify, r->call.id, -EBADF);
		d->receivers = r->next;
		free(r);
	}
	forget(all, d);
	datagram_set_peer(d, NULL);
	drop_senders(d);
	free(d);
}

void datagrams_stop(struct connect_guard *g)
{
	struct datagrams *all = g->datagrams;

	if (!all)
		return;
	for (struct datagram *d = all->first; d; d = d->next)
		for (int i = 0; d->cookie && i < SOCKETS_MAX && carry(d) > 0 && !d->stopped; i++)
			;
	while (all->first)
		datagram_release(all->first);
	loop_remove(g->loop, &all->timer);
	close(all->timer.fd);
	free(all);
	g->datagrams = NULL;
}
