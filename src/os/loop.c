/* SPDX-License-Identifier: MIT */
/* The supervisor's epoll loop. */
#include "os/loop.h"

#include <errno.h>

int loop_init(struct loop *loop, struct err *err)
{
	*loop = (struct loop){ .fd = epoll_create1(EPOLL_CLOEXEC) };
	return loop->fd < 0 ? err_errno(err, errno, "epoll_create") : 0;
}

void loop_release(struct loop *loop)
{
	if (loop->fd >= 0)
		close(loop->fd);
	loop->fd = -1;
}

static int control(struct loop *loop, int op, struct loop_source *source, uint32_t events,
		   struct err *err)
{
	struct epoll_event ev = { .events = events, .data.ptr = source };

	if (epoll_ctl(loop->fd, op, source->fd, &ev) < 0)
		return err_errno(err, errno, "epoll_ctl");
	return 0;
}

int loop_add(struct loop *loop, struct loop_source *source, uint32_t events, struct err *err)
{
	return control(loop, EPOLL_CTL_ADD, source, events, err);
}

int loop_change(struct loop *loop, struct loop_source *source, uint32_t events, struct err *err)
{
	return control(loop, EPOLL_CTL_MOD, source, events, err);
}

void loop_remove(struct loop *loop, struct loop_source *source)
{
	if (source->fd >= 0)
		epoll_ctl(loop->fd, EPOLL_CTL_DEL, source->fd, NULL);
}

int loop_run(struct loop *loop, int timeout_ms, struct err *err)
{
	while (!loop->done) {
		struct epoll_event ev;
		struct loop_source *source;
		int n, r;

		/* One event a round: a guest may remove another whose event would be waiting. */
		n = epoll_wait(loop->fd, &ev, 1, timeout_ms);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(err, errno, "epoll_wait");
		if (n == 0)
			return 1;
		source = ev.data.ptr;
		r = source->on_event(source, ev.events, err);
		if (r < 0)
			return r;
	}
	return 0;
}
