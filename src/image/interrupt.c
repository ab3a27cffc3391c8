/* SPDX-License-Identifier: MIT */
/* Signals that wait: blocked, and asked for. One that is ignored (nohup) stays so. */
#include "image/interrupt.h"

#include <errno.h>

#include "base/util.h"
#include "os/signals.h"

static const int ends[] = { SIGHUP, SIGINT, SIGTERM };
static sigset_t held, before;

void interrupt_hold(void)
{
	sigemptyset(&held);
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (!os_signal_is_ignored(ends[i]))
			sigaddset(&held, ends[i]);
	sigprocmask(SIG_BLOCK, &held, &before);
}

void interrupt_release(void)
{
	sigemptyset(&held);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

bool interrupt_waits(void)
{
	sigset_t pending;

	if (sigpending(&pending) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (sigismember(&held, ends[i]) == 1 && sigismember(&pending, ends[i]) == 1)
			return true;
	return false;
}

int interrupt_check(struct err *err)
{
	return interrupt_waits() ? err_set(err, EINTR, "interrupted") : 0;
}
