/* SPDX-License-Identifier: MIT */
/* Once a second, from the loop. */
#include "os/ticker.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <time.h>

int64_t os_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

static int on_event(struct loop_source *source, uint32_t events, struct err *err)
{
	struct ticker *ticker = container_of(source, struct ticker, source);
	uint64_t ticks;

	(void)events;
	(void)err;
	if (read(source->fd, &ticks, sizeof(ticks)) == sizeof(ticks))
		ticker->on_tick(ticker);
	return 0;
}

int ticker_start(struct ticker *ticker, struct loop *loop, void (*on_tick)(struct ticker *ticker),
		 struct err *err)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd < 0)
		return err_errno(err, errno, "timerfd");
	*ticker = (struct ticker){ .loop = loop,
				   .source = { .fd = fd, .on_event = on_event },
				   .on_tick = on_tick };
	return loop_add(loop, &ticker->source, EPOLLIN, err);
}

void ticker_run(struct ticker *ticker, bool on)
{
	const struct itimerspec second = { { 1, 0 }, { 1, 0 } }, rest = { { 0, 0 }, { 0, 0 } };

	timerfd_settime(ticker->source.fd, 0, on ? &second : &rest, NULL);
}

void ticker_stop(struct ticker *ticker)
{
	if (!ticker->loop)
		return;
	loop_remove(ticker->loop, &ticker->source);
	close(ticker->source.fd);
	*ticker = (struct ticker){ .loop = NULL };
}
