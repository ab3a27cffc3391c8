/* SPDX-License-Identifier: MIT */
/*
 * The server of the network measurements: netserve ADDRESS PORT.
 *
 * One port does everything, and the first byte of a connection says what: 'G' begins an HTTP request
 * 'GET /N', answered with a body of N bytes; anything else is echoed. Answers that fill more than
 * a socket buffer are written by a process of their own, so that the others do not wait for them.
 * It says 'ready' on standard output and lives until it is killed.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS = 64, SMALL = 16 << 10, CHUNK = 256 << 10 };

static char chunk[CHUNK];

_Noreturn static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = send(fd, data, size, MSG_NOSIGNAL);

		if (n <= 0)
			return;
		data += n;
		size -= (size_t)n;
	}
}

static void answer(int fd, size_t size)
{
	char head[128];
	int n = snprintf(head, sizeof(head),
			 "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
			 size);

	if (size <= SMALL) {
		char whole[sizeof(head) + SMALL] = { 0 };

		memcpy(whole, head, (size_t)n);
		write_all(fd, whole, (size_t)n + size);
		return;
	}
	write_all(fd, head, (size_t)n);
	for (; size > CHUNK; size -= CHUNK)
		write_all(fd, chunk, CHUNK);
	write_all(fd, chunk, size);
}

/* A request arrives in one piece here: what asks for it is our own client, or a proxy. */
static void serve_http(int fd, const char *request)
{
	const char *path = strstr(request, " /");
	size_t size = path ? strtoul(path + 2, NULL, 10) : 0;

	if (size <= SMALL) {
		answer(fd, size);
	} else if (fork() == 0) {
		answer(fd, size);
		_exit(0);
	}
	close(fd);
}

static void serve(int fd)
{
	char buf[4096];
	ssize_t n = recv(fd, buf, sizeof(buf) - 1, 0);

	if (n <= 0) {
		close(fd);
		return;
	}
	buf[n] = '\0';
	if (buf[0] == 'G')
		serve_http(fd, buf);
	else
		write_all(fd, buf, (size_t)n);
}

static int listen_at(const char *address, const char *port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((in_port_t)atoi(port)) };
	int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || inet_pton(AF_INET, address, &to.sin_addr) != 1)
		die(address);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&to, sizeof(to)) || listen(fd, 4096))
		die(address);
	return fd;
}

static void watch(int epoll, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		die("epoll");
}

static void take(int epoll, int listener)
{
	int one = 1, fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	watch(epoll, fd);
}

int main(int argc, char **argv)
{
	struct rlimit files;
	int epoll = epoll_create1(EPOLL_CLOEXEC), listener;

	if (argc != 3 || epoll < 0)
		die("usage: netserve ADDRESS PORT");
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	signal(SIGCHLD, SIG_IGN);
	listener = listen_at(argv[1], argv[2]);
	watch(epoll, listener);
	puts("ready");
	fflush(stdout);
	for (;;) {
		struct epoll_event events[EVENTS];
		int n = epoll_wait(epoll, events, EVENTS, -1);

		for (int i = 0; i < n; i++) {
			if (events[i].data.fd == listener)
				take(epoll, listener);
			else
				serve(events[i].data.fd);
		}
	}
}
