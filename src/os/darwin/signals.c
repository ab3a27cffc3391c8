/* SPDX-License-Identifier: MIT */
/* Signals as a descriptor: a kqueue is told of them also while they are blocked. */
#include "os/signals.h"

#include <sys/event.h>

int os_signals_open(const sigset_t *set)
{
	int fd = kqueue();

	if (fd < 0)
		return -1;
	(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	for (int i = 1; i < NSIG; i++) {
		struct kevent change;

		if (sigismember(set, i) != 1 || i == SIGKILL || i == SIGSTOP)
			continue;
		EV_SET(&change, (uintptr_t)i, EVFILT_SIGNAL, EV_ADD, 0, 0, NULL);
		if (kevent(fd, &change, 1, NULL, 0, NULL) < 0) {
			close(fd);
			return -1;
		}
	}
	return fd;
}

int os_signals_next(int fd)
{
	const struct timespec now = { 0, 0 };
	struct kevent event;
	sigset_t one, pending;
	int taken;

	if (kevent(fd, NULL, 0, &event, 1, &now) != 1)
		return 0;
	/* It is still pending, and must not come when they are unblocked. */
	sigemptyset(&one);
	sigaddset(&one, (int)event.ident);
	if (sigpending(&pending) == 0 && sigismember(&pending, (int)event.ident) == 1)
		(void)sigwait(&one, &taken);
	return (int)event.ident;
}
