/* SPDX-License-Identifier: MIT */
/* Lines and descriptors. Nothing of the other side's is believed: sizes are capped, and descriptors
 * are close-on-exec until somebody has decided what they are. */
#include "api/serve_conn.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "os/timer.h"

union rights {
	char space[CMSG_SPACE(SERVE_FDS_MAX * sizeof(int))];
	struct cmsghdr align;
};

void serve_conn_close(struct serve_conn *conn)
{
	for (size_t i = 0; i < conn->n_fds; i++)
		close(conn->fds[i]);
	conn->n_fds = 0;
	close_ptr(&conn->fd);
	str_release(&conn->in);
	str_release(&conn->out);
}

/* False: there were more than may be. */
static bool take_rights(struct serve_conn *conn, struct msghdr *header)
{
	bool fits = !(header->msg_flags & MSG_CTRUNC);

	for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c; c = CMSG_NXTHDR(header, c)) {
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (conn->n_fds < SERVE_FDS_MAX) {
				conn->fds[conn->n_fds++] = fd;
			} else {
				close(fd);
				fits = false;
			}
		}
	}
	return fits;
}

int serve_conn_fill(struct serve_conn *conn, int flags)
{
	char buffer[16384];
	struct iovec iov = { .iov_base = buffer, .iov_len = sizeof(buffer) };
	union rights rights;
	struct msghdr header = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = rights.space,
		.msg_controllen = sizeof(rights.space),
	};
	ssize_t n;

	if (conn->taken) {
		memmove(conn->in.s, conn->in.s + conn->taken, conn->in.len - conn->taken + 1);
		conn->in.len -= conn->taken;
		conn->taken = 0;
	}
	do {
		n = recvmsg(conn->fd, &header, MSG_CMSG_CLOEXEC | flags);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (!take_rights(conn, &header))
		return -EMFILE;
	str_addn(&conn->in, buffer, (size_t)n);
	return n > 0;
}

char *serve_conn_line(struct serve_conn *conn, size_t *ret_len)
{
	char *start = conn->in.s ? conn->in.s + conn->taken : NULL;
	char *end = start ? memchr(start, '\n', conn->in.len - conn->taken) : NULL;

	if (!end)
		return NULL;
	*end = '\0';
	*ret_len = (size_t)(end - start);
	conn->taken += *ret_len + 1;
	return start;
}

/* True: there is something to read, or room to write. Also with one who does a little each time it ends in time. */
static bool await_other(const struct serve_conn *conn, short events, int64_t until)
{
	struct pollfd fds = { .fd = conn->fd, .events = events };
	int n;

	do {
		int64_t left = until < 0 ? -1 : until - os_now_ms();

		if (until >= 0 && left <= 0)
			return false;
		n = poll(&fds, 1, (int)left);
	} while (n < 0 && errno == EINTR);
	return n > 0;
}

char *serve_conn_wait(struct serve_conn *conn, size_t *ret_len, int64_t until, struct err *err)
{
	err->code = 0;
	for (;;) {
		char *line = serve_conn_line(conn, ret_len);
		int r;

		if (line)
			return line;
		if (conn->in.len - conn->taken > SERVE_LINE_MAX)
			r = -EMSGSIZE;
		else
			r = await_other(conn, POLLIN, until) ? serve_conn_fill(conn, 0)
							     : -ETIMEDOUT;
		if (r < 0)
			err_errno(err, -r, "reading a line");
		if (r <= 0)
			return NULL;
	}
}

int serve_conn_send(struct serve_conn *conn, const char *text, size_t len, const int *fds,
		    size_t n_fds)
{
	union rights rights = { .align = { .cmsg_len = CMSG_LEN(n_fds * sizeof(int)),
					   .cmsg_level = SOL_SOCKET,
					   .cmsg_type = SCM_RIGHTS } };

	if (n_fds > SERVE_FDS_MAX)
		return -EMFILE;
	if (n_fds)
		memcpy(CMSG_DATA(&rights.align), fds, n_fds * sizeof(int));
	while (len) {
		struct iovec iov = { .iov_base = (char *)text, .iov_len = len };
		struct msghdr header = {
			.msg_iov = &iov,
			.msg_iovlen = 1,
			.msg_control = n_fds ? rights.space : NULL,
			.msg_controllen = n_fds ? CMSG_SPACE(n_fds * sizeof(int)) : 0,
		};
		ssize_t n = sendmsg(conn->fd, &header, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		n_fds = 0;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

bool serve_conn_flush(struct serve_conn *conn, int64_t until)
{
	while (conn->sent < conn->out.len) {
		ssize_t n = send(conn->fd, conn->out.s + conn->sent, conn->out.len - conn->sent,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno != EINTR &&
		    (errno != EAGAIN || !await_other(conn, POLLOUT, until)))
			return false;
		conn->sent += (size_t)MAX(n, 0);
	}
	conn->out.len = conn->sent = 0;
	return true;
}

void serve_conn_push(struct serve_conn *conn, const char *text, size_t len)
{
	if (conn->fd < 0 || conn->out.len - conn->sent + len > SERVE_OUT_MAX) {
		conn->lost++;
		return;
	}
	if (conn->sent) {
		memmove(conn->out.s, conn->out.s + conn->sent, conn->out.len - conn->sent + 1);
		conn->out.len -= conn->sent;
		conn->sent = 0;
	}
	str_addn(&conn->out, text, len);
	(void)serve_conn_flush(conn, 0); /* what stays is sent when there is room */
}
