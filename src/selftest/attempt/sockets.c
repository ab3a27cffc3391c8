/* SPDX-License-Identifier: MIT */
/* Services of the host: the victim's, on loopback and on sockets with abstract and path names. */
#include "selftest/attempt/attempt.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define SO_PEER_DESCRIPTOR 77 /* SO_PEERPIDFD, Linux 6.5 */

/* An answer from this machine takes microseconds, but a control must not fail because it is busy. Of
 * several addresses each is given less: an attempt has an end (attempt.c). */
enum { PATIENCE_INSIDE_MS = 300, PATIENCE_MS = 10000, PATIENCE_OF_MANY_MS = 1500 };

static int patience = PATIENCE_MS;

/* A connection that says nothing is not the victim's. */
static int ask(int type, const void *address, socklen_t len)
{
	int family = ((const struct sockaddr *)address)->sa_family;
	int ms = inside ? PATIENCE_INSIDE_MS : patience;
	int fd = socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct pollfd ready = { .fd = fd, .events = POLLOUT };
	int code = 0;

	if (fd < 0)
		return -errno;
	if (connect(fd, address, len) < 0 && errno != EINPROGRESS)
		return -errno;
	if (poll(&ready, 1, ms) != 1)
		return -ETIMEDOUT;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &(socklen_t){ sizeof(code) }) < 0 || code)
		return code ? -code : -errno;
	if (send(fd, "?", 1, MSG_NOSIGNAL) < 0)
		return -errno;
	ready.events = POLLIN;
	return poll(&ready, 1, ms) == 1 ? read_secret_fd(fd) : -ETIMEDOUT;
}

static int ask4(int type, const char *address, long port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };

	if (inet_pton(AF_INET, address, &to.sin_addr) != 1)
		return unable("'%s' is no address", address);
	return ask(type, &to, sizeof(to));
}

static int ask6(const char *address, long port)
{
	struct sockaddr_in6 to = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port) };

	if (inet_pton(AF_INET6, address, &to.sin6_addr) != 1)
		return unable("'%s' is no address", address);
	return ask(SOCK_STREAM, &to, sizeof(to));
}

static int loopback(void)
{
	return ask4(SOCK_STREAM, "127.0.0.1", fact_number("tcp"));
}

static int loopback6(void)
{
	return ask6("::1", fact_number("tcp6"));
}

static int mapped_loopback(void)
{
	return ask6("::ffff:127.0.0.1", fact_number("tcp"));
}

static int zero(void)
{
	return ask4(SOCK_STREAM, "0.0.0.0", fact_number("tcp"));
}

static int datagram(void)
{
	return ask4(SOCK_DGRAM, "127.0.0.1", fact_number("udp"));
}

/* A service on every address of the host, by an address that is not loopback. */
static int own_address(void)
{
	return ask4(SOCK_STREAM, fact("address4"), fact_number("tcp_any"));
}

/* What pasta and its relatives let stand for the host: the gateway's address above all. */
static int alias(int type, long port)
{
	const char *const names[] = { fact("gateway4"), "169.254.1.1", "169.254.1.2",
				      "169.254.0.1",    "10.0.2.2",    "10.0.2.3",
				      fact("address4"), "127.0.0.53",  "192.168.127.254" };
	int r = -EHOSTUNREACH;

	patience = PATIENCE_OF_MANY_MS;
	for (size_t i = 0; i < ARRAY_LEN(names) && r != WORKED; i++)
		r = ask4(type, names[i], port);
	return r;
}

static int loopback_by_alias(void)
{
	return alias(SOCK_STREAM, fact_number("tcp"));
}

static int datagram_by_alias(void)
{
	return alias(SOCK_DGRAM, fact_number("udp"));
}

static int name(int type, const char *text, bool abstract)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t len = strlen(text);

	if (len + 1 >= sizeof(to.sun_path))
		return unable("the name is too long");
	memcpy(to.sun_path + abstract, text, len);
	if (type == SOCK_DGRAM) { /* an answer needs an address, which the kernel chooses */
		int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
		long r = sendto(
			fd, "?", 1, 0, (void *)&to,
			(socklen_t)(offsetof(struct sockaddr_un, sun_path) + abstract + len));

		return outcome(r);
	}
	return ask(type, &to, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + abstract + len));
}

static int abstract_stream(void)
{
	return name(SOCK_STREAM, fact("abstract"), true);
}

static int abstract_datagram(void)
{
	return name(SOCK_DGRAM, fact("abstract_datagram"), true);
}

/* X11 listens on both kinds of name. */
static int abstract_x11(void)
{
	return name(SOCK_STREAM, fact("x11"), true);
}

static int path_x11(void)
{
	return name(SOCK_STREAM, fact("x11"), false);
}

static int path_home(void)
{
	return name(SOCK_STREAM, fact("sock_home"), false);
}

static int path_tmp(void)
{
	return name(SOCK_STREAM, fact("sock_tmp"), false);
}

static int path_datagram(void)
{
	return name(SOCK_DGRAM, fact("sock_datagram"), false);
}

/* The peer's name is where no filter sees it. */
static int path_datagram_by_message(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	char byte = '?';
	struct iovec part = { &byte, 1 };
	struct msghdr msg = {
		.msg_name = &to, .msg_namelen = sizeof(to), .msg_iov = &part, .msg_iovlen = 1
	};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)snprintf(to.sun_path, sizeof(to.sun_path), "%s", fact("sock_datagram"));
	return outcome(sendmsg(fd, &msg, 0));
}

static int path_run(void)
{
	return name(SOCK_STREAM, fact("sock_run"), false);
}

/* A link in the project to the socket outside, as a project of docker-compose may have. */
static int path_by_link(void)
{
	return name(SOCK_STREAM, "link-socket", false);
}

/*
 * Who is at the other end of a connection: where somebody outside made it for us, that is a process of
 * the host's, which a descriptor then stands for. Asked of a server of our own, inside.
 */
static int connected(const struct sockaddr_un *to)
{
	int server = -1, fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (inside) {
		server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		(void)unlink(to->sun_path);
		if (bind(server, (const void *)to, sizeof(*to)) < 0 || listen(server, 1) < 0)
			return unable("a server: %m");
	}
	if (connect(fd, (const void *)to, sizeof(*to)) < 0)
		return unable("connect: %m");
	return inside ? accept(server, NULL, NULL) : fd;
}

static int signal_peer(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct ucred peer = { 0 };
	int fd, pidfd = -1;

	(void)snprintf(to.sun_path, sizeof(to.sun_path), "%s",
		       inside ? "own-server" : fact("sock_home"));
	fd = connected(&to);
	if (fd < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &(socklen_t){ sizeof(peer) }) < 0)
		return fd == UNABLE ? fd : unable("no peer: %m");
	(void)unlink("own-server");
	if (inside && peer.pid == getpid())
		return -ESRCH; /* nobody stood between */
	if (getsockopt(fd, SOL_SOCKET, SO_PEER_DESCRIPTOR, &pidfd, &(socklen_t){ sizeof(pidfd) }) <
	    0)
		return peer.pid ? outcome(kill(peer.pid, SIGURG)) : -ESRCH; /* before Linux 6.5 */
	if (syscall(SYS_pidfd_getfd, pidfd, 0, 0) >= 0)
		return WORKED;
	return outcome(syscall(SYS_pidfd_send_signal, pidfd, SIGURG, NULL, 0));
}

static int configure(void)
{
	struct ifreq req = { .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)snprintf(req.ifr_name, sizeof(req.ifr_name), "lo");
	return outcome(ioctl(fd, SIOCSIFFLAGS, &req));
}

static int raw(void)
{
	return outcome(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP));
}

/* The byte is taken first, or it would reset the connection and with it the answer. */
static void answer(int peer)
{
	const char *token = fact("token");
	char byte;

	if (recv(peer, &byte, 1, 0) == 1)
		ignore(send(peer, token, strlen(token), MSG_NOSIGNAL));
	close(peer);
}

/* Answers whoever comes; the runner calls from outside, and takes us away. */
static int serve(void)
{
	struct sockaddr_in here = { .sin_family = AF_INET,
				    .sin_port = htons((uint16_t)fact_number("port_inside")) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, peer;

	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (void *)&here, sizeof(here)) < 0 || listen(fd, 8) < 0)
		return unable("listening: %m");
	close(open("serving", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	while ((peer = accept(fd, NULL, NULL)) >= 0)
		answer(peer);
	return -errno;
}

static int call(void)
{
	long port = fact_number("port_inside");
	int r = ask4(SOCK_STREAM, "127.0.0.1", port);

	return r == WORKED ? r : ask4(SOCK_STREAM, fact("address4"), port);
}

#define NETS (IN_NONE | IN_NESTED | IN_ROOT | IN_OPEN | IN_OFFLINE)

const struct attempt socket_attempts[] = {
	{ "net-loopback", loopback, PLAIN, NETS },
	{ "net-loopback-v6", loopback6, PLAIN, NETS },
	{ "net-loopback-mapped", mapped_loopback, PLAIN, NETS },
	{ "net-zero-address", zero, PLAIN, NETS },
	{ "net-datagram", datagram, PLAIN, NETS },
	{ "net-own-address", own_address, PLAIN, IN_OPEN | IN_OFFLINE },
	{ "net-loopback-by-alias", loopback_by_alias, PASTA, IN_OPEN | IN_OFFLINE },
	{ "net-datagram-by-alias", datagram_by_alias, PASTA, IN_OPEN | IN_OFFLINE },
	{ "net-abstract", abstract_stream, PLAIN, NETS | IN_HOST },
	{ "net-abstract-datagram", abstract_datagram, PLAIN, NETS | IN_HOST },
	{ "net-abstract-x11", abstract_x11, PLAIN, NETS | IN_HOST },
	{ "net-path-x11", path_x11, PLAIN, NETS | IN_HOST },
	{ "net-path-home", path_home, PLAIN, NETS | IN_HOST },
	{ "net-path-tmp", path_tmp, PLAIN, NETS | IN_HOST },
	{ "net-path-datagram", path_datagram, PLAIN, NETS | IN_HOST },
	{ "net-path-datagram-by-message", path_datagram_by_message, PLAIN, NETS | IN_HOST },
	{ "net-path-run", path_run, PLAIN, NETS | IN_HOST },
	{ "net-path-by-link", path_by_link, PLAIN, NETS },
	{ "net-peer-of-own-server", signal_peer, PLAIN, NETS | IN_HOST },
	{ "net-configure", configure, USERNS, NETS | IN_HOST },
	{ "net-raw", raw, USERNS, NETS | IN_HOST },
	{ "serve", serve, PLAIN, 0 },
	{ "call", call, PLAIN, 0 },
	{ 0 },
};
