/* SPDX-License-Identifier: MIT */
/* The messages between the supervisor and PID 1. */
#include "engine/control.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

union fd_message {
	char space[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

int control_send(int fd, enum control_type type, int value, int pass_fd)
{
	struct control message = { .type = type, .value = value };
	struct iovec iov = { .iov_base = &message, .iov_len = sizeof(message) };
	struct msghdr header = { .msg_iov = &iov, .msg_iovlen = 1 };
	union fd_message rights = { 0 };
	ssize_t n;

	if (pass_fd >= 0) {
		header.msg_control = rights.space;
		header.msg_controllen = sizeof(rights.space);
		*CMSG_FIRSTHDR(&header) = (struct cmsghdr){
			.cmsg_len = CMSG_LEN(sizeof(int)),
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS,
		};
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&header)), &pass_fd, sizeof(int));
	}
	do {
		n = sendmsg(fd, &header, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

int control_receive(int fd, struct control *ret, int *ret_fd)
{
	struct control message;
	struct iovec iov = { .iov_base = &message, .iov_len = sizeof(message) };
	union fd_message rights;
	struct msghdr header = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = ret_fd ? rights.space : NULL,
		.msg_controllen = ret_fd ? sizeof(rights.space) : 0,
	};
	struct cmsghdr *cmsg;
	ssize_t n;

	if (ret_fd)
		*ret_fd = -1;
	do {
		n = recvmsg(fd, &header, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (n != sizeof(message))
		return -EPIPE;
	cmsg = ret_fd ? CMSG_FIRSTHDR(&header) : NULL;
	if (cmsg && cmsg->cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(cmsg), sizeof(int));
	*ret = message;
	return 0;
}
