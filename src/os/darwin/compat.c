/* SPDX-License-Identifier: MIT */
/* What macOS's C library lacks; see compat.h. */
#include <errno.h>
#include <stdlib.h>

#undef socket
#undef socketpair
#undef recvmsg

static int prepare(int fd, int flags)
{
	int on = 1;

	if (fd < 0)
		return fd;
	(void)setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on,
			 sizeof(on)); /* no socket has it otherwise */
	if (((flags & SOCK_CLOEXEC) && fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) ||
	    ((flags & SOCK_NONBLOCK) && fcntl(fd, F_SETFL, O_NONBLOCK) < 0)) {
		int saved = errno;

		close(fd);
		errno = saved;
		return -1;
	}
	return fd;
}

int darwin_socket(int domain, int type, int protocol)
{
	return prepare(socket(domain, type & ~(SOCK_CLOEXEC | SOCK_NONBLOCK), protocol), type);
}

int darwin_socketpair(int domain, int type, int protocol, int fds[2])
{
	if (socketpair(domain, type & ~(SOCK_CLOEXEC | SOCK_NONBLOCK), protocol, fds) < 0)
		return -1;
	if (prepare(fds[0], type) >= 0 && prepare(fds[1], type) >= 0)
		return 0;
	return -1;
}

/* Here a connection is like its listener where that does not wait; Linux's is as the flags say. */
int accept4(int fd, struct sockaddr *address, socklen_t *len, int flags)
{
	int accepted = accept(fd, address, len);

	if (accepted >= 0)
		(void)fcntl(accepted, F_SETFL, 0);
	return prepare(accepted, flags);
}

/* Who receives a descriptor does not hand it on by accident. */
ssize_t darwin_recvmsg(int fd, struct msghdr *message, int flags)
{
	ssize_t n = recvmsg(fd, message, flags);
	struct cmsghdr *c = n < 0 || !message->msg_control ? NULL : CMSG_FIRSTHDR(message);

	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		for (size_t i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
			int got;

			memcpy(&got, CMSG_DATA(c) + i * sizeof(int), sizeof(got));
			(void)fcntl(got, F_SETFD, FD_CLOEXEC);
		}
	return n;
}

int pipe2(int fds[2], int flags)
{
	if (pipe(fds) < 0)
		return -1;
	for (int i = 0; i < 2; i++)
		if (((flags & O_CLOEXEC) && fcntl(fds[i], F_SETFD, FD_CLOEXEC) < 0) ||
		    ((flags & O_NONBLOCK) && fcntl(fds[i], F_SETFL, O_NONBLOCK) < 0)) {
			close(fds[0]);
			close(fds[1]);
			return -1;
		}
	return 0;
}

int memfd_create(const char *name, unsigned flags)
{
	char path[] = "/tmp/wrapix-XXXXXX";
	int fd = mkostemp(path, flags & MFD_CLOEXEC ? O_CLOEXEC : 0);

	(void)name;
	if (fd >= 0)
		unlink(path);
	return fd;
}

void *memrchr(const void *bytes, int c, size_t len)
{
	const unsigned char *p = bytes;

	while (len--)
		if (p[len] == (unsigned char)c)
			return (void *)(p + len);
	return NULL;
}

void *darwin_reallocarray(void *array, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / size) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(array, n * size);
}
