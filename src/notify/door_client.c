/* SPDX-License-Identifier: MIT */
/* The other side of the door. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "notify/door.h"

int door_connect(const char *dir)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_str_ struct str path = { 0 };
	_cleanup_close_ int dir_fd = -1, fd = -1;

	str_addf(&path, "%s/wrapix", dir);
	dir_fd = open(path.s, O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (dir_fd < 0 || fd < 0)
		return -errno;
	/* By way of the descriptor: the real path may be longer than a socket's may be. */
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/" DOOR_NAME, dir_fd);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return take_fd(&fd);
}

int door_send(int door, const struct str *request, int fd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec iov = { .iov_base = request->s, .iov_len = request->len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fd >= 0) {
		struct cmsghdr *c;

		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(int));
	}
	return sendmsg(door, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}
