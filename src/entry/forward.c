/* SPDX-License-Identifier: MIT */
/*
 * Ports of the loopback inside that are sockets outside: WRAPIX_FORWARD is "PORT=SOCKET" with blanks between.
 * A machine without a network reaches what its user allows by them. One process listens, one carries the
 * bytes of each connection; they end with the entrypoint. What may be reached is decided outside.
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#include "entry/entry.h"
#include "os/fs.h"
#include "os/linux/netif.h"
#include "os/proc.h"
#include "os/socket.h"

enum { BACKLOG = 64, BUFFER = 1 << 16 };

int entry_forward_parse(const char *text, struct forward list[FORWARDS_MAX], size_t *ret_n,
			struct err *err)
{
	size_t n = 0;

	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		size_t len = strcspn(text, " ");
		char *end;
		unsigned long port = strtoul(text, &end, 10);

		if (n == FORWARDS_MAX || *end != '=' || end[1] != '/' || !port || port > 65535 ||
		    len - (size_t)(end + 1 - text) >= FORWARD_PATH)
			return err_usage(err, "WRAPIX_FORWARD is no list of PORT=SOCKET");
		list[n].port = (unsigned)port;
		snprintf(list[n].path, FORWARD_PATH, "%.*s", (int)(len - (size_t)(end + 1 - text)),
			 end + 1);
		n++;
		text += len;
	}
	*ret_n = n;
	return 0;
}

static int listen_at(unsigned port, struct err *err)
{
	const struct sockaddr_in at = { .sin_family = AF_INET,
					.sin_port = htons((uint16_t)port),
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
	if (fd < 0 || bind(fd, (const struct sockaddr *)&at, sizeof(at)) < 0 ||
	    listen(fd, BACKLOG) < 0)
		return err_errno(err, errno, "taking port %u", port);
	return fd;
}

/* What is there from one to the other. False: that direction has ended. */
static bool carry(int from, int to, char *buffer)
{
	ssize_t n;

	do {
		n = read(from, buffer, BUFFER);
	} while (n < 0 && errno == EINTR);
	if (n > 0 && os_write_all(to, buffer, (size_t)n) == 0)
		return true;
	shutdown(to, SHUT_WR);
	return false;
}

_Noreturn static void connection_main(int inside, const char *path)
{
	static char buffer[BUFFER];
	struct pollfd fds[] = { { .fd = inside, .events = POLLIN },
				{ .fd = -1, .events = POLLIN } };
	int outside = os_connect_unix(path, 0);

	fds[1].fd = outside;
	if (outside < 0) {
		os_socket_reset(inside);
		_exit(1);
	}
	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			_exit(1);
		if (fds[0].fd >= 0 && fds[0].revents && !carry(inside, outside, buffer))
			fds[0].fd = -1;
		if (fds[1].fd >= 0 && fds[1].revents && !carry(outside, inside, buffer))
			fds[1].fd = -1;
	}
	_exit(0);
}

static void accept_one(int listener, const char *path)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	/* Without memory for another process the connection ends, which says so. */
	if (fork() == 0) {
		os_die_with_parent(SIGKILL);
		connection_main(fd, path);
	}
	close(fd);
}

_Noreturn static void forward_main(const struct forward *list, struct pollfd *fds, size_t n)
{
	signal(SIGCHLD, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	for (;;) {
		if (poll(fds, n, -1) < 0)
			continue;
		for (size_t i = 0; i < n; i++)
			if (fds[i].revents)
				accept_one(fds[i].fd, list[i].path);
	}
}

int entry_forward(struct err *err)
{
	static struct forward list[FORWARDS_MAX];
	struct pollfd fds[FORWARDS_MAX];
	const char *text = getenv("WRAPIX_FORWARD");
	pid_t parent = getpid(), pid;
	struct err ignored; /* it may be up, and ours not to bring up: then the ports say it */
	size_t n = 0;
	int r = text ? entry_forward_parse(text, list, &n, err) : 0;

	if (r < 0 || !n)
		return r;
	(void)netif_loopback_up(&ignored);
	for (size_t i = 0; i < n; i++) {
		fds[i] = (struct pollfd){ .fd = listen_at(list[i].port, err), .events = POLLIN };
		if (fds[i].fd < 0)
			return -err->code;
	}
	pid = fork();
	if (pid == 0) {
		os_die_with_parent(SIGKILL);
		if (getppid() != parent)
			_exit(1);
		forward_main(list, fds, n);
	}
	for (size_t i = 0; i < n; i++)
		close(fds[i].fd);
	return pid < 0 ? err_errno(err, errno, "fork") : 0;
}
