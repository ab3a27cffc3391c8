/* SPDX-License-Identifier: MIT */
/* Messages between two processes: datagrams, whose end is an error. */
#include "os/socket.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

bool os_peer(int fd, uid_t *ret_uid, pid_t *ret_pid)
{
	socklen_t len = sizeof(*ret_pid);
	gid_t gid;

	return getpeereid(fd, ret_uid, &gid) == 0 &&
	       (!ret_pid || getsockopt(fd, SOL_LOCAL, LOCAL_PEERPID, ret_pid, &len) == 0);
}

int os_message_pair(int fds[2])
{
	return socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds);
}
