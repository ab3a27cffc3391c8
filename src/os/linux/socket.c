/* SPDX-License-Identifier: MIT */
/* Sockets that other systems have not. */
#include "os/socket.h"

#include <sys/socket.h>

int os_message_pair(int fds[2])
{
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds);
}
