/* SPDX-License-Identifier: MIT */
/* The messages between the supervisor and PID 1. */
#include "engine/control.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

union fd_message {
	char space[CMSG_SPACE(CONTROL_FDS_MAX * sizeof(int))];
	struct cmsghdr align;
};

int control_send(int fd, enum control_type type, int value, int pass_fd)
{
	return control_send_many(fd, type, value, &pass_fd, pass_fd >= 0);
}

bool control_send_pause(int fd, int status)
{
	if (WIFSTOPPED(status))
		control_send(fd, CONTROL_STOPPED, WSTOPSIG(status), -1);
	else if (WIFCONTINUED(status))
		control_send(fd, CONTROL_CONTINUED, 0, -1);
	else
		return false;
	return true;
}

int control_send_many(int fd, enum control_type type, int value, const int *fds, size_t n_fds)
{
	struct control message = { .type = type, .value = value };
	struct iovec iov = { .iov_base = &message, .iov_len = sizeof(message) };
	struct msghdr header = { .msg_iov = &iov, .msg_iovlen = 1 };
	union fd_message rights = { .align = {
					    .cmsg_len = CMSG_LEN(n_fds * sizeof(int)),
					    .cmsg_level = SOL_SOCKET,
					    .cmsg_type = SCM_RIGHTS,
				    } };
	ssize_t n;

	if (n_fds > CONTROL_FDS_MAX)
		return -EMFILE;
	if (n_fds) {
		memcpy(CMSG_DATA(&rights.align), fds, n_fds * sizeof(int));
		header.msg_control = rights.space;
		header.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
	}
	do {
		n = sendmsg(fd, &header, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

int control_receive(int fd, struct control *ret, int *ret_fd)
{
	size_t n = ret_fd ? 1 : 0;

	if (ret_fd)
		*ret_fd = -1;
	return control_receive_many(fd, ret, ret_fd, &n);
}

int control_receive_many(int fd, struct control *ret, int *ret_fds, size_t *n_fds)
{
	struct control message;
	struct iovec iov = { .iov_base = &message, .iov_len = sizeof(message) };
	union fd_message rights;
	size_t room = MIN(*n_fds, (size_t)CONTROL_FDS_MAX);
	struct msghdr header = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = room ? rights.space : NULL,
		.msg_controllen = room ? CMSG_LEN(room * sizeof(int)) : 0,
	};
	struct cmsghdr *cmsg;
	ssize_t n;

	*n_fds = 0;
	do {
		n = recvmsg(fd, &header, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (n != sizeof(message))
		return -EPIPE;
	cmsg = room ? CMSG_FIRSTHDR(&header) : NULL;
	if (cmsg && cmsg->cmsg_type == SCM_RIGHTS) {
		*n_fds = MIN((cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int), room);
		memcpy(ret_fds, CMSG_DATA(cmsg), *n_fds * sizeof(int));
	}
	*ret = message;
	return 0;
}
