/* SPDX-License-Identifier: MIT */
/*
 * The calls that make a datagram socket, name it, and send. Address, text and descriptors of a message are copied once,
 * with their sizes capped; whom it is for is judged by that copy, and it is the copy that is sent.
 *
 * What an attacker controls: all of the message, how many wait (datagram.c counts them), and when it ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "guard/datagram_priv.h"
#include "os/linux/brief.h"

/* More would be lost in a few tiny messages, and is for us to pay. */
#define BUFFER (104 << 10)

/* ------------------------------------------------------------------ socket */

/* A number with the bit in it that the caller has no descriptor of. Only it can take it meanwhile. */
static int free_number(const struct seccomp_notif *call)
{
	_cleanup_close_ int pidfd = caller_open(call);
	struct rlimit limit = { 0 };
	struct brief brief;
	int number = DATAGRAM_BIT, end, fd = 0;

	if (pidfd < 0 || prlimit((pid_t)call->pid, RLIMIT_NOFILE, NULL, &limit) < 0)
		return -EMFILE;
	end = (int)MIN(limit.rlim_cur, (rlim_t)2 * DATAGRAM_BIT);
	brief_begin(&brief);
	for (; number < end; number++) {
		fd = caller_get_fd(pidfd, number);
		if (fd < 0)
			break;
		close(fd);
	}
	brief_end(&brief);
	return fd == -EBADF && number < end ? number : -EMFILE;
}

static int put(struct connect_guard *g, const struct seccomp_notif *call, int fd)
{
	int number = free_number(call);
	struct seccomp_notif_addfd add = {
		.id = call->id,
		.flags = SECCOMP_ADDFD_FLAG_SETFD,
		.srcfd = (uint32_t)fd,
		.newfd = (uint32_t)number,
		.newfd_flags = call->data.args[1] & SOCK_CLOEXEC ? O_CLOEXEC : 0,
	};

	if (number < 0)
		return number;
	if (notify_ask(g->notify, SECCOMP_IOCTL_NOTIF_ADDFD, &add) < 0)
		return -errno;
	notify_answer_value(g->notify, add.id, number);
	return 0;
}

int datagram_socket(struct connect_guard *g, const struct seccomp_notif *call)
{
	int size = BUFFER, ends[2], r;
	socklen_t len = sizeof(uint64_t);
	struct datagram *d;
	uint64_t cookie;

	if (call->data.args[2] > AF_UNIX)
		return -EPROTONOSUPPORT;
	r = connect_make_pair(call, (int)call->data.args[1], ends);
	if (r < 0)
		return r;
	r = getsockopt(ends[0], SOL_SOCKET, SO_COOKIE, &cookie, &len) < 0 ? -errno : 0;
	(void)setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	d = datagram_new(g, ends[1], cookie);
	if (r == 0)
		r = d ? put(g, call, ends[0]) : -EMFILE;
	close(ends[0]);
	if (d && r < 0)
		datagram_release(d);
	return r < 0 ? r : NOTIFY_LATER;
}

/* ------------------------------------------------------------------ names */

static struct datagram *take_socket(struct connect_guard *g, const struct seccomp_notif *call,
				    int *ret_fd)
{
	_cleanup_close_ int pidfd = g->datagrams ? caller_open(call) : -1;

	*ret_fd = pidfd < 0 ? -1 : caller_get_fd(pidfd, (int)call->data.args[0]);
	return *ret_fd < 0 ? NULL : datagram_find(g, *ret_fd);
}

void datagram_bound(struct connect_guard *g, int socket, const struct stat *st,
		    const struct sockaddr_un *un, size_t len)
{
	struct datagram *d = datagram_find(g, socket);

	if (!d || len > sizeof(d->name.un))
		return;
	d->name = (struct datagram_name){ .len = (socklen_t)len };
	memcpy(&d->name.un, un, len);
	d->dev = st->st_dev;
	d->ino = st->st_ino;
}

/* Without a name one is chosen, as the kernel does. */
static int bind_abstract(struct connect_guard *g, struct datagram *d, struct sockaddr_un *un,
			 socklen_t len)
{
	static unsigned next;

	for (unsigned i = 0; len == sizeof(sa_family_t) && i <= 0xfffff; i++) {
		snprintf(un->sun_path + 1, 6, "%05x", next++ & 0xfffff);
		if (!datagram_find_name(g, un, len + 6))
			len += 6;
	}
	if (d->name.len)
		return -EINVAL;
	if (datagram_find_name(g, un, len))
		return -EADDRINUSE;
	d->name = (struct datagram_name){ .len = len, .un = *un };
	return NOTIFY_DONE;
}

int datagram_bind(struct connect_guard *g, int socket, struct sockaddr_un *un, size_t len)
{
	struct datagram *d = datagram_find(g, socket);

	if (!d)
		return NOTIFY_CONTINUE;
	if (un->sun_family != AF_UNIX || (d->name.len && len > sizeof(sa_family_t)))
		return -EINVAL;
	return bind_abstract(g, d, un, (socklen_t)len);
}

/* ------------------------------------------------------------------ whom it is for */

/* A socket of the host's, connected by our own. */
static int reach_host(struct connect_guard *g, struct connect_job *job, struct datagram **ret)
{
	struct connect_job own = *job;
	int r;

	own.socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (own.socket < 0)
		return -errno;
	r = connect_once(&own);
	if (r < 0) {
		close(own.socket);
		return r;
	}
	*ret = datagram_new(g, own.socket, 0);
	return *ret ? 0 : -ENOBUFS;
}

static int find_target(struct connect_guard *g, const struct seccomp_notif *call,
		       struct connect_job *job, struct datagram **ret)
{
	struct stat st;
	int r;

	if (!job_has_path(job)) {
		if (job->address.ss_family != AF_UNIX || job->len <= sizeof(sa_family_t))
			return -EINVAL;
		*ret = datagram_find_name(g, (struct sockaddr_un *)&job->address, job->len);
		return *ret ? 0 : -ECONNREFUSED;
	}
	r = unix_path_judge(g, call, job);
	if (r == 0 && fstat(job->file, &st) < 0)
		r = -errno;
	if (r < 0)
		return r;
	*ret = datagram_find_file(g, &st);
	return *ret ? 0 : reach_host(g, job, ret);
}

int datagram_connect(struct connect_guard *g, const struct seccomp_notif *call,
		     struct connect_job *job)
{
	struct datagram *d = datagram_find(g, job->socket), *to = NULL;
	int r;

	if (!d)
		return NOTIFY_CONTINUE;
	if (job->len < sizeof(sa_family_t))
		return -EINVAL;
	r = job->address.ss_family == AF_UNSPEC ? 0 : find_target(g, call, job, &to);
	if (r == 0 && to && to->cookie && to->peer && to->peer != d)
		r = -EPERM;
	if (r == 0 && !notify_is_valid(g->notify, call->id))
		r = -EINTR;
	if (r < 0 && to && !to->cookie)
		datagram_release(to);
	if (r < 0)
		return r;
	datagram_set_peer(d, to);
	return NOTIFY_DONE;
}

/* ------------------------------------------------------------------ sending */

/* A message's head, of whatever call. */
struct head {
	struct msghdr msg; /* the caller's pointers */
	int flags;
};

static int read_head(const struct seccomp_notif *call, const char *name, struct head *h,
		     struct iovec parts[DATAGRAM_PARTS])
{
	const __u64 *args = call->data.args;
	bool simple = !strcmp(name, "sendto"), many = !strcmp(name, "sendmmsg");

	h->flags = (int)args[simple || many ? 3 : 2];
	if (simple) {
		parts[0] = (struct iovec){ (void *)(uintptr_t)args[1], args[2] };
		h->msg = (struct msghdr){ .msg_name = (void *)(uintptr_t)args[4],
					  .msg_namelen = (socklen_t)args[5],
					  .msg_iovlen = 1 };
		return 0;
	}
	if (many && !args[2])
		return -EINVAL;
	if (caller_read(call, args[1], &h->msg, sizeof(h->msg)) < 0)
		return -EFAULT;
	if (h->msg.msg_iovlen > DATAGRAM_PARTS)
		return -EMSGSIZE;
	return h->msg.msg_iovlen && caller_read(call, (uintptr_t)h->msg.msg_iov, parts,
						h->msg.msg_iovlen * sizeof(*parts)) < 0
		       ? -EFAULT
		       : 0;
}

static int read_text(const struct seccomp_notif *call, const struct head *h,
		     const struct iovec *parts, struct letter **ret)
{
	size_t len = 0;

	for (size_t i = 0; i < (size_t)h->msg.msg_iovlen; i++) {
		if (parts[i].iov_len > DATAGRAM_MAX - len)
			return -EMSGSIZE;
		if (parts[i].iov_len && caller_read(call, (uintptr_t)parts[i].iov_base,
						    datagram_text + len, parts[i].iov_len) < 0)
			return -EFAULT;
		len += parts[i].iov_len;
	}
	*ret = letter_new(len, NULL);
	return 0;
}

/* The descriptors that go along. */
static int read_rights(const struct seccomp_notif *call, const struct head *h, struct letter *l)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(DATAGRAM_FDS * sizeof(int)) + 256];
	} control;
	struct msghdr msg = { .msg_control = control.space,
			      .msg_controllen = h->msg.msg_controllen };
	_cleanup_close_ int pidfd = -1;

	if (!msg.msg_controllen)
		return 0;
	if (msg.msg_controllen > sizeof(control.space))
		return -ENOBUFS;
	if (caller_read(call, (uintptr_t)h->msg.msg_control, control.space, msg.msg_controllen) < 0)
		return -EFAULT;
	pidfd = caller_open(call);
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		size_t room = (size_t)(control.space + msg.msg_controllen - (char *)c);
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		/* Of every kind, as the kernel has it: CMSG_NXTHDR() of glibc before 2.36 believes it. */
		if (c->cmsg_len < CMSG_LEN(0) || c->cmsg_len > room)
			return -EINVAL;
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < n; i++) {
			int number, fd;

			memcpy(&number, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			fd = pidfd < 0 || l->n_fds == DATAGRAM_FDS ? -EBADF
								   : caller_get_fd(pidfd, number);
			if (fd < 0)
				return fd;
			l->fds[l->n_fds++] = fd;
		}
	}
	return 0;
}

/* Takes the letter over. */
static int send_to(struct connect_guard *g, const struct seccomp_notif *call, struct datagram *to,
		   struct letter *l, int socket, int flags)
{
	bool waits = !(flags & MSG_DONTWAIT) && !(fcntl(socket, F_GETFL) & O_NONBLOCK);
	int r = notify_is_valid(g->notify, call->id) ? datagram_deliver(to, l) : -EINTR;

	to->temporary = !to->cookie;
	if (r == -EAGAIN && waits && !datagram_may_wait(to->all, l))
		r = -ENOBUFS;
	if (r == -EAGAIN && waits) {
		l->call = *call;
		l->deadline = connect_deadline(socket, SO_SNDTIMEO);
		datagram_wait(to, l);
		return NOTIFY_LATER;
	}
	if (r == 0)
		notify_answer_value(g->notify, call->id, l->counts ? 1 : (int64_t)l->len);
	letter_free(l);
	if (to->temporary)
		datagram_release(to);
	return r < 0 ? r : NOTIFY_LATER;
}

/* Of sendmmsg the first, which it may leave it at. */
static int set_length(const struct seccomp_notif *call, const struct letter *l)
{
	unsigned len = (unsigned)l->len;

	return l->counts ? caller_write(call, call->data.args[1] + sizeof(struct msghdr), &len,
					sizeof(len))
			 : 0;
}

static int send_named(struct connect_guard *g, const struct seccomp_notif *call,
		      struct datagram *from, int socket, const char *name)
{
	struct connect_job job = { .socket = -1, .file = -1, .domain = AF_UNIX, .call = name };
	struct iovec parts[DATAGRAM_PARTS];
	struct datagram *to = NULL;
	struct letter *l = NULL;
	struct head h = { 0 };
	int r = read_head(call, name, &h, parts);

	if (r == 0 && !h.msg.msg_namelen)
		return NOTIFY_CONTINUE; /* through the pair, with what comes along */
	if (r == 0 && (h.msg.msg_namelen > sizeof(struct sockaddr_un)))
		r = -EINVAL;
	job.len = h.msg.msg_namelen;
	if (r == 0 && caller_read(call, (uintptr_t)h.msg.msg_name, &job.address, job.len) < 0)
		r = -EFAULT;
	if (r == 0)
		r = read_text(call, &h, parts, &l);
	if (r == 0)
		r = read_rights(call, &h, l);
	if (r == 0) {
		l->from = from;
		l->counts = !strcmp(name, "sendmmsg");
		r = notify_is_valid(g->notify, call->id) ? set_length(call, l) : -EINTR;
	}
	if (r == 0)
		r = find_target(g, call, &job, &to);
	close_ptr(&job.file);
	if (r == 0)
		return send_to(g, call, to, l, socket, h.flags);
	if (l)
		letter_free(l);
	return r;
}

int datagram_message(struct connect_guard *g, const struct seccomp_notif *call, const char *name)
{
	_cleanup_brief_close_ int fd = -1;
	struct datagram *d = take_socket(g, call, &fd);

	if (!d)
		return NOTIFY_CONTINUE;
	if (!strncmp(name, "send", 4))
		return send_named(g, call, d, fd, name);
	return datagram_receive(g, call, d, fd, name);
}
