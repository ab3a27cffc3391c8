/* SPDX-License-Identifier: MIT */
/* Signals as a descriptor: one that becomes readable when one of them has come. */
#pragma once

#include <signal.h>
#include <stdbool.h>

/* The caller has blocked them. -1 with errno on failure. */
int os_signals_open(const sigset_t *set);
/* The next one, or 0 when there is none. */
int os_signals_next(int fd);

/* Whoever started us had it ignored (nohup), and so have we. */
static inline bool os_signal_is_ignored(int signal_no)
{
	struct sigaction action;

	return sigaction(signal_no, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}
