/* SPDX-License-Identifier: MIT */
/*
 * Receiving with the sender's address, which the stand-in does not have: the supervisor takes the
 * message from the caller's own end, and writes it to where the caller wants it. Who only wants the
 * message gets it from the kernel.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>

#include "guard/datagram_priv.h"
#include "os/linux/brief.h"

/* What the caller wants, and where. */
struct wish {
	struct iovec parts[DATAGRAM_PARTS];
	size_t n_parts;
	uint64_t name, name_len, control; /* addresses; 0: not wanted */
	uint64_t head, count; /* of a msghdr and of a mmsghdr's length; 0: there is none */
	socklen_t name_room;
	size_t control_room;
	int flags;
};

/* 0; NOTIFY_LATER: nothing in it needs us. */
static int read_wish(const struct seccomp_notif *call, const char *name, struct wish *w)
{
	const __u64 *args = call->data.args;
	bool simple = !strcmp(name, "recvfrom"), many = !strcmp(name, "recvmmsg");
	struct msghdr msg;

	*w = (struct wish){ .flags = (int)args[simple || many ? 3 : 2] };
	if (simple) {
		w->parts[0] = (struct iovec){ (void *)(uintptr_t)args[1], args[2] };
		w->n_parts = 1;
		w->name = args[4];
		w->name_len = args[5];
		if (!w->name)
			return NOTIFY_LATER;
		return caller_read(call, w->name_len, &w->name_room, sizeof(w->name_room));
	}
	w->head = args[1];
	w->count = many ? args[1] + sizeof(msg) : 0;
	if (caller_read(call, w->head, &msg, sizeof(msg)) < 0)
		return -EFAULT;
	if (!msg.msg_name || !msg.msg_namelen)
		return NOTIFY_LATER;
	if (msg.msg_iovlen > DATAGRAM_PARTS)
		return -EMSGSIZE;
	w->n_parts = msg.msg_iovlen;
	w->name = (uintptr_t)msg.msg_name;
	w->name_len = w->head + offsetof(struct msghdr, msg_namelen);
	w->name_room = msg.msg_namelen;
	w->control = (uintptr_t)msg.msg_control;
	w->control_room = msg.msg_controllen;
	return w->n_parts && caller_read(call, (uintptr_t)msg.msg_iov, w->parts,
					 w->n_parts * sizeof(w->parts[0])) < 0
		       ? -EFAULT
		       : 0;
}

/* The bytes that found room, or -errno. */
static ssize_t write_text(struct connect_guard *g, const struct seccomp_notif *call,
			  const struct wish *w, const char *text, size_t len)
{
	size_t done = 0;

	for (size_t i = 0; i < w->n_parts && done < len; i++) {
		size_t n = MIN(w->parts[i].iov_len, len - done);

		if (!notify_is_valid(g->notify, call->id)) /* its number may be another's by now */
			return -EINTR;
		if (n && caller_write(call, (uintptr_t)w->parts[i].iov_base, text + done, n) < 0)
			return -EFAULT;
		done += n;
	}
	return (ssize_t)done;
}

/* Rights that came along become the caller's: as many as there is room for. Returns msg_controllen. */
static size_t write_rights(struct connect_guard *g, const struct seccomp_notif *call,
			   const struct wish *w, const struct letter *l, int *flags)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(DATAGRAM_FDS * sizeof(int))];
	} control = { .space = { 0 } };
	size_t room = w->control_room < CMSG_LEN(sizeof(int))
			      ? 0
			      : (w->control_room - CMSG_LEN(0)) / sizeof(int);
	size_t n = 0, len;

	for (; n < MIN(room, l->n_fds); n++) {
		struct seccomp_notif_addfd add = {
			.id = call->id,
			.srcfd = (uint32_t)l->fds[n],
			.newfd_flags = w->flags & MSG_CMSG_CLOEXEC ? O_CLOEXEC : 0,
		};
		int number = notify_ask(g->notify, SECCOMP_IOCTL_NOTIF_ADDFD, &add);

		if (number < 0)
			break;
		memcpy(CMSG_DATA(&control.align) + n * sizeof(int), &number, sizeof(int));
	}
	*flags |= n < l->n_fds ? MSG_CTRUNC : 0;
	if (n == 0)
		return 0;
	len = CMSG_LEN(n * sizeof(int));
	control.align = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
					  .cmsg_type = SCM_RIGHTS,
					  .cmsg_len = len };
	if (caller_write(call, w->control, control.space, len) < 0)
		return 0;
	return MIN(CMSG_SPACE(n * sizeof(int)), w->control_room);
}

/* All but the text: who sent it, and what a msghdr says. */
static int write_head(struct connect_guard *g, const struct seccomp_notif *call,
		      const struct wish *w, const struct letter *l,
		      const struct datagram_name *from, size_t done)
{
	int flags = done < l->len ? MSG_TRUNC : 0;
	size_t control;
	unsigned count = (unsigned)done;

	if (caller_write(call, w->name, &from->un, MIN(from->len, w->name_room)) < 0 ||
	    caller_write(call, w->name_len, &from->len, sizeof(from->len)) < 0)
		return -EFAULT;
	if (!w->head)
		return 0;
	control = write_rights(g, call, w, l, &flags);
	if (caller_write(call, w->head + offsetof(struct msghdr, msg_controllen), &control,
			 sizeof(control)) < 0 ||
	    caller_write(call, w->head + offsetof(struct msghdr, msg_flags), &flags,
			 sizeof(flags)) < 0)
		return -EFAULT;
	return w->count ? caller_write(call, w->count, &count, sizeof(count)) : 0;
}

/* The first of those whose messages were not read; one that nothing is known of has no name. */
static struct datagram_name take_sender(struct datagram *d, bool peek)
{
	struct datagram_name name = { 0 };
	struct sender *s = d->senders;

	if (s)
		name = s->name;
	if (s && !peek) {
		d->senders = s->next;
		free(s);
	}
	return name;
}

int datagram_receive(struct connect_guard *g, const struct seccomp_notif *call, struct datagram *d,
		     int socket, const char *name)
{
	struct datagram_name from;
	struct letter *l;
	struct wish w;
	ssize_t done;
	int r = read_wish(call, name, &w);

	if (r != 0)
		return r == NOTIFY_LATER ? NOTIFY_CONTINUE : r;
	if (!notify_is_valid(g->notify, call->id))
		return -EINTR;
	l = letter_take(socket, w.flags & MSG_PEEK, &r);
	if (r == -EAGAIN && !(w.flags & MSG_DONTWAIT) && !(fcntl(socket, F_GETFL) & O_NONBLOCK)) {
		datagram_add_receiver(d, call, socket);
		return NOTIFY_LATER;
	}
	if (!l)
		return r;
	from = take_sender(d, w.flags & MSG_PEEK);
	done = write_text(g, call, &w, l->text, l->len);
	r = done < 0 ? (int)done : write_head(g, call, &w, l, &from, (size_t)done);
	if (r == 0) {
		size_t len = w.flags & MSG_TRUNC ? l->len : (size_t)done;

		notify_answer_value(g->notify, call->id, w.count ? 1 : (int64_t)len);
	}
	letter_free(l);
	return r < 0 ? r : NOTIFY_LATER;
}

/* Whether the call is over, one way or the other. */
static bool try_receiver(struct datagram *d, const struct receiver *waiting)
{
	struct connect_guard *g = d->all->guard;
	const struct seccomp_notif *call = &waiting->call;
	const char *name = seccomp_call_name(&seccomp_notify_connect, call->data.arch,
					     (uint32_t)call->data.nr);
	_cleanup_close_ int pidfd = caller_open(call);
	_cleanup_brief_close_ int fd = -1;
	int r, unread = 0;

	if (!notify_is_valid(g->notify, call->id))
		return true;
	if (ioctl(d->end.fd, TIOCOUTQ, &unread) == 0 && unread == 0) {
		r = datagram_waits(call, waiting->deadline);
		if (r < 0)
			notify_answer(g->notify, call->id, r);
		return r < 0;
	}
	fd = pidfd < 0 ? pidfd : caller_get_fd(pidfd, (int)call->data.args[0]);
	r = fd < 0 || datagram_find(g, fd) != d ? -EBADF : datagram_receive(g, call, d, fd, name);
	if (r != NOTIFY_LATER)
		notify_answer(g->notify, call->id, r);
	return true;
}

void datagram_try_receivers(struct datagram *d)
{
	struct receiver *next = d->receivers, *kept = NULL, **at = &kept;

	d->receivers = NULL; /* who begins to wait meanwhile comes after the others */
	while (next) {
		struct receiver *r = next;

		next = r->next;
		if (try_receiver(d, r)) {
			free(r);
			continue;
		}
		r->next = NULL;
		*at = r;
		at = &r->next;
	}
	*at = d->receivers;
	d->receivers = kept;
}
