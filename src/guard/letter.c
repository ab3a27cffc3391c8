/* SPDX-License-Identifier: MIT */
/* A message that the supervisor carries: its bytes and its descriptors, taken once from a socket of the sandbox's,
 * and let go without waiting for anybody. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guard/datagram_priv.h"
#include "os/proc.h"

#ifndef SCM_PIDFD
#define SCM_PIDFD 0x04 /* Linux 6.5 */
#endif

char datagram_text[DATAGRAM_MAX];

/* Its last close may wait for as long as its owner likes (SO_LINGER): a socket, or one that holds
 * messages with such sockets in them. */
static bool may_linger(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);
}

/* That of a process that ends waits for nobody; so ours must not be the last. Where there can be no such
 * process they stay open. */
static void close_lingering(const struct letter *l)
{
	int ends[2];
	pid_t pid;
	char none;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return;
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		(void)!read(ends[0], &none, 1);
		_exit(0);
	}
	for (size_t i = 0; pid > 0 && i < l->n_fds; i++)
		close(l->fds[i]);
	close(ends[0]);
	close(ends[1]);
	(void)os_await(pid);
}

void letter_free(struct letter *l)
{
	bool lingers = false;

	for (size_t i = 0; i < l->n_fds; i++)
		lingers |= may_linger(l->fds[i]);
	if (lingers)
		close_lingering(l);
	while (!lingers && l->n_fds)
		close(l->fds[--l->n_fds]);
	free(l);
}

/* A pidfd of ours comes along where the sandbox set SO_PASSPIDFD on its end. */
static void close_fds(const struct cmsghdr *c, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int fd;

		memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
		close(fd);
	}
}

static void take_fds(struct letter *l, struct msghdr *msg)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_PIDFD)
			close_fds(c, n);
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n = MIN(n, DATAGRAM_FDS - l->n_fds);
		memcpy(l->fds + l->n_fds, CMSG_DATA(c), n * sizeof(int));
		l->n_fds += n;
	}
}

struct letter *letter_new(size_t len, struct msghdr *msg)
{
	struct letter *l = malloc(sizeof(*l) + len);

	if (!l)
		abort();
	*l = (struct letter){ .len = len };
	memcpy(l->text, datagram_text, len);
	if (msg)
		take_fds(l, msg);
	return l;
}

struct letter *letter_take(int socket, int flags, int *ret_error)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(DATAGRAM_FDS * sizeof(int))];
	} control;
	struct iovec part = { datagram_text, sizeof(datagram_text) };
	struct msghdr msg = { .msg_iov = &part,
			      .msg_iovlen = 1,
			      .msg_control = control.space,
			      .msg_controllen = sizeof(control.space) };
	ssize_t n = recvmsg(socket, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC | flags);

	*ret_error = n < 0 ? -errno : 0;
	return n < 0 ? NULL : letter_new((size_t)n, &msg);
}
