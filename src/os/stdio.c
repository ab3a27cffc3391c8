/* SPDX-License-Identifier: MIT */
/* The three descriptors that a command shares with us. */
#include "os/stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

enum { PATIENCE_MS = 10000 };

void os_stdio_note(struct os_stdio *ret)
{
	for (int fd = 0; fd < 3; fd++) {
		int flags = fcntl(fd, F_GETFL);

		ret->waits[fd] = flags >= 0 && !(flags & O_NONBLOCK) && !isatty(fd);
	}
}

void os_stdio_restore(const struct os_stdio *noted)
{
	for (int fd = 0; fd < 3; fd++) {
		int flags = noted->waits[fd] ? fcntl(fd, F_GETFL) : -1;

		if (flags >= 0 && (flags & O_NONBLOCK))
			(void)fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
	}
}

int os_stdio_write(int fd, const char *text, size_t len)
{
	while (len) {
		struct pollfd reader = { .fd = fd, .events = POLLOUT };
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EAGAIN && poll(&reader, 1, PATIENCE_MS) == 0)
			return -ETIMEDOUT;
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		text += n < 0 ? 0 : n;
		len -= n < 0 ? 0 : (size_t)n;
	}
	return 0;
}
