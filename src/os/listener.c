/* SPDX-License-Identifier: MIT */
/* Taking connections in, and resting where that is not possible. */
#include "os/listener.h"

#include <errno.h>
#include <sys/socket.h>

#include "os/socket.h"

static void rest(struct listener *l)
{
	loop_remove(l->ticker.loop, &l->source);
	ticker_keep(&l->ticker, true);
}

static void on_tick(struct ticker *ticker)
{
	struct listener *l = container_of(ticker, struct listener, ticker);
	struct err ignored; /* tried again */

	if (loop_add(ticker->loop, &l->source, LOOP_IN, &ignored) == 0)
		ticker_run(ticker, false);
}

static int on_event(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	struct listener *l = container_of(source, struct listener, source);
	int fd = accept4(source->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd >= 0)
		l->on_connection(l, fd);
	else if (os_is_exhausted(errno))
		rest(l);
	return 0;
}

int listener_start(struct listener *l, struct loop *loop, struct err *err)
{
	int r = ticker_start(&l->ticker, loop, on_tick, err);

	l->source.on_event = on_event;
	return r < 0 ? r : loop_add(loop, &l->source, LOOP_IN, err);
}

void listener_stop(struct listener *l)
{
	if (l->ticker.loop)
		loop_remove(l->ticker.loop, &l->source);
	ticker_stop(&l->ticker);
}
