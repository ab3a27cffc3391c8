/* SPDX-License-Identifier: MIT */
/* The supervisor's loop, by epoll. */
#include "os/loop.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>

/* Our names are the kernel's numbers. */
_Static_assert(LOOP_IN == (uint32_t)EPOLLIN && LOOP_OUT == (uint32_t)EPOLLOUT &&
		       LOOP_ERR == (uint32_t)EPOLLERR && LOOP_HUP == (uint32_t)EPOLLHUP &&
		       LOOP_RDHUP == (uint32_t)EPOLLRDHUP && LOOP_ONCE == (uint32_t)EPOLLONESHOT &&
		       LOOP_EDGE == (uint32_t)EPOLLET,
	       "the events of the loop");

#define BUSY 1000

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

void loop_add_direct(struct loop *loop, struct loop_source *source)
{
	loop->direct = source;
}

void loop_remove(struct loop *loop, struct loop_source *source)
{
	if (source->fd < 0)
		return;
	if (source == loop->direct)
		loop->direct = NULL;
	else
		epoll_ctl(loop->fd, EPOLL_CTL_DEL, source->fd, NULL);
}

/* One event, as epoll_wait() has it. */
static int wait_for_event(struct loop *loop, int timeout_ms, struct epoll_event *ret)
{
	struct pollfd fds[] = { { .fd = loop->fd, .events = POLLIN },
				{ .fd = loop->direct ? loop->direct->fd : -1, .events = POLLIN } };
	int n;

	if (!loop->direct)
		return epoll_wait(loop->fd, ret, 1, timeout_ms);
	n = poll(fds, 2, timeout_ms);
	if (n <= 0)
		return n;
	loop->was_direct = fds[1].revents && !(fds[0].revents && loop->was_direct);
	if (!loop->was_direct)
		return epoll_wait(loop->fd, ret, 1, 0);
	ret->events = (uint32_t)fds[1].revents; /* the same bits */
	ret->data.ptr = loop->direct;
	return 1;
}

int loop_run(struct loop *loop, int timeout_ms, struct err *err)
{
	unsigned rounds = 0;

	while (!loop->done) {
		struct epoll_event ev;
		struct loop_source *source;
		int n, r;

		/* One event a round: a guest may remove another whose event would be waiting. */
		n = wait_for_event(loop, timeout_ms, &ev);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(err, errno, "epoll_wait");
		if (n == 0 && timeout_ms < 0)
			continue; /* it was gone before we took it */
		if (n == 0)
			return 1;
		source = ev.data.ptr;
		r = source->on_event(source, ev.events, err);
		if (r < 0)
			return r;
		if (timeout_ms >= 0 && ++rounds == BUSY && !loop->done)
			return 1;
	}
	return 0;
}
