/* SPDX-License-Identifier: MIT */
/* Small things about TCP sockets. */
#include "os/socket.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

int os_connect_result(int fd)
{
	int code = 0;
	socklen_t len = sizeof(code);

	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &len) < 0 ? errno : code;
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

bool os_is_exhausted(int code)
{
	return code == EMFILE || code == ENFILE || code == ENOBUFS || code == ENOMEM;
}
