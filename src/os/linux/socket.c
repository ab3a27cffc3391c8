/* SPDX-License-Identifier: MIT */
/* Sockets that other systems have not. */
#include "os/socket.h"

#include <sys/socket.h>

bool os_peer(int fd, uid_t *ret_uid, pid_t *ret_pid)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return false;
	*ret_uid = peer.uid;
	if (ret_pid)
		*ret_pid = peer.pid;
	return true;
}

int os_message_pair(int fds[2])
{
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds);
}
