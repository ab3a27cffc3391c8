/* SPDX-License-Identifier: MIT */
/* Time as a descriptor: a kqueue with one timer in it, which another can wait for. */
#include "os/timer.h"

#include <errno.h>
#include <sys/event.h>

int os_timer_open(void)
{
	int fd = kqueue();

	if (fd >= 0)
		(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	return fd;
}

static int set(int fd, uintptr_t which, unsigned ms, bool once)
{
	struct kevent change;

	EV_SET(&change, which, EVFILT_TIMER, ms ? EV_ADD | (once ? EV_ONESHOT : 0) : EV_DELETE, 0,
	       (intptr_t)ms, NULL);
	return kevent(fd, &change, 1, NULL, 0, NULL) < 0 && (ms || errno != ENOENT) ? -1 : 0;
}

/* Two of them: the first time, and every time. */
int os_timer_set(int fd, unsigned first_ms, unsigned every_ms)
{
	if (set(fd, 1, first_ms, true) < 0)
		return -1;
	return set(fd, 2, first_ms ? every_ms : 0, false);
}

bool os_timer_take(int fd)
{
	const struct timespec now = { 0, 0 };
	struct kevent event;

	return kevent(fd, NULL, 0, &event, 1, &now) == 1;
}
