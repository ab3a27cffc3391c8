/* SPDX-License-Identifier: MIT */
/* One timer for each process, made before anything runs inside: how many signals may wait is a number that the user's
 * processes share, and each timer counts. Forks have none of their parent's. */
#include "os/linux/brief.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "os/linux/kernel.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define SIGNAL SIGRTMAX
#define TICK_NS 1000000

static struct {
	pid_t pid;
	timer_t timer;
} prepared;

int brief_prepare(void)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = SIGNAL,
	};

	if (prepared.pid == getpid())
		return 0;
	event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &event, &prepared.timer) < 0)
		return -errno;
	prepared.pid = getpid();
	return 0;
}

static void wake(_unused_ int signal_no)
{
}

static void set_timer(long ns)
{
	const struct itimerspec at = { { .tv_nsec = ns }, { .tv_nsec = ns } };

	if (brief_prepare() == 0)
		timer_settime(prepared.timer, 0, &at, NULL);
}

void brief_begin(struct brief *ret)
{
	const struct sigaction action = { .sa_handler = wake };
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, SIGNAL);
	sigaction(SIGNAL, &action, &ret->action);
	pthread_sigmask(SIG_UNBLOCK, &one, &ret->mask);
	set_timer(TICK_NS);
}

void brief_end(const struct brief *brief)
{
	int e = errno;

	set_timer(0); /* one that has come by now is taken before this returns */
	pthread_sigmask(SIG_SETMASK, &brief->mask, NULL);
	sigaction(SIGNAL, &brief->action, NULL);
	errno = e;
}

void brief_close_ptr(int *fd)
{
	struct brief brief;

	if (*fd < 0)
		return;
	brief_begin(&brief);
	close_ptr(fd);
	brief_end(&brief);
}
