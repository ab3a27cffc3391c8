/* SPDX-License-Identifier: MIT */
/* Once a second, from the loop. */
#include "os/ticker.h"

#include <errno.h>
#include <time.h>

#include "os/timer.h"

int64_t os_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

static int on_event(struct loop_source *source, uint32_t events, struct err *err)
{
	struct ticker *ticker = container_of(source, struct ticker, source);

	(void)events;
	(void)err;
	if (os_timer_take(source->fd))
		ticker->on_tick(ticker);
	return 0;
}

int ticker_start(struct ticker *ticker, struct loop *loop, void (*on_tick)(struct ticker *ticker),
		 struct err *err)
{
	int fd = os_timer_open();

	if (fd < 0)
		return err_errno(err, errno, "a timer");
	*ticker = (struct ticker){ .loop = loop,
				   .source = { .fd = fd, .on_event = on_event },
				   .on_tick = on_tick };
	return loop_add(loop, &ticker->source, LOOP_IN, err);
}

void ticker_run(struct ticker *ticker, bool on)
{
	(void)os_timer_set(ticker->source.fd, on ? 1000 : 0, on ? 1000 : 0);
	ticker->runs = on;
}

void ticker_keep(struct ticker *ticker, bool on)
{
	if (ticker->runs != on)
		ticker_run(ticker, on);
}

void ticker_stop(struct ticker *ticker)
{
	if (!ticker->loop)
		return;
	loop_remove(ticker->loop, &ticker->source);
	close(ticker->source.fd);
	*ticker = (struct ticker){ .loop = NULL };
}
