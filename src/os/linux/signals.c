/* SPDX-License-Identifier: MIT */
/* Signals as a descriptor, by signalfd. */
#include "os/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

int os_signals_open(const sigset_t *set)
{
	return signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int os_signals_next(int fd)
{
	struct signalfd_siginfo info;

	return read(fd, &info, sizeof(info)) == sizeof(info) ? (int)info.ssi_signo : 0;
}
