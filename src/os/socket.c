/* SPDX-License-Identifier: MIT */
/* Small things about sockets. */
#include "os/socket.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* Where nobody listens, a socket may be given the very port that it dials as its own: then it meets itself. */
static bool met_itself(int fd)
{
	struct sockaddr_storage own = { 0 }, peer = { 0 };
	socklen_t own_len = sizeof(own), peer_len = sizeof(peer);

	return getsockname(fd, (struct sockaddr *)&own, &own_len) == 0 &&
	       getpeername(fd, (struct sockaddr *)&peer, &peer_len) == 0 && own_len == peer_len &&
	       !memcmp(&own, &peer, own_len);
}

int os_connect_result(int fd)
{
	int code = 0;
	socklen_t len = sizeof(code);

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &len) < 0)
		return errno;
	return !code && met_itself(fd) ? ECONNREFUSED : code;
}

void os_socket_linger(int fd, bool reset)
{
	struct linger linger = { .l_onoff = reset };

	/* Refused for what is no TCP socket, which has no peer to be told either. */
	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
}

void os_socket_reset(int fd)
{
	os_socket_linger(fd, true);
	close(fd);
}

bool os_socket_roams(int fd, int *ret_family)
{
	struct sockaddr_storage at = { 0 };
	socklen_t len = sizeof(at), size = sizeof(int);
	int type = 0;

	/* The only ones that are connected once and for all are streams of this machine; one of TCP can be connected anew. */
	if (getsockname(fd, (struct sockaddr *)&at, &len) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0)
		return false;
	*ret_family = at.ss_family;
	len = sizeof(at);
	return at.ss_family != AF_UNIX || type == SOCK_DGRAM ||
	       getpeername(fd, (struct sockaddr *)&at, &len) < 0;
}

bool os_is_exhausted(int code)
{
	return code == EMFILE || code == ENFILE || code == ENOBUFS || code == ENOMEM;
}

int os_connect_unix(const char *path, unsigned patience_ms)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct timeval patience = { .tv_sec = patience_ms / 1000,
				    .tv_usec = patience_ms % 1000 * 1000 };
	int fd;

	if (strlen(path) >= sizeof(address.sun_path))
		return -1;
	memcpy(address.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}
