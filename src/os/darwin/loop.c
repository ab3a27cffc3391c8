/* SPDX-License-Identifier: MIT */
/*
 * The loop, by kqueue. A source is one filter for reading and one for writing; an event of either is told as
 * epoll would: the end of the other side is LOOP_RDHUP for who reads, LOOP_HUP for who writes.
 */
#include "os/loop.h"

#include <errno.h>
#include <sys/event.h>

int loop_init(struct loop *loop, struct err *err)
{
	*loop = (struct loop){ .fd = kqueue() };
	if (loop->fd < 0 || fcntl(loop->fd, F_SETFD, FD_CLOEXEC) < 0)
		return err_errno(err, errno, "kqueue");
	return 0;
}

void loop_release(struct loop *loop)
{
	if (loop->fd >= 0)
		close(loop->fd);
	loop->fd = -1;
}

/* One filter on or off; one that is not there need not be taken away. */
static int set(struct loop *loop, struct loop_source *source, int16_t filter, bool on,
	       uint32_t events)
{
	uint16_t flags = on ? EV_ADD | EV_ENABLE : EV_DELETE;
	struct kevent change;

	if (on && (events & LOOP_EDGE))
		flags |= EV_CLEAR;
	if (on && (events & LOOP_ONCE))
		flags |= EV_DISPATCH;
	EV_SET(&change, (uintptr_t)source->fd, filter, flags, 0, 0, source);
	if (kevent(loop->fd, &change, 1, NULL, 0, NULL) < 0 && (on || errno != ENOENT))
		return -errno;
	return 0;
}

static int watch(struct loop *loop, struct loop_source *source, uint32_t events, struct err *err)
{
	/* Who waits for nothing hears of an end all the same: by the filter for reading. */
	bool out = events & LOOP_OUT, in = (events & (LOOP_IN | LOOP_RDHUP)) || !out;
	int r = set(loop, source, EVFILT_READ, in, events);

	if (r == 0)
		r = set(loop, source, EVFILT_WRITE, out, events);
	return r < 0 ? err_errno(err, -r, "kevent") : 0;
}

int loop_add(struct loop *loop, struct loop_source *source, uint32_t events, struct err *err)
{
	return watch(loop, source, events, err);
}

int loop_change(struct loop *loop, struct loop_source *source, uint32_t events, struct err *err)
{
	return watch(loop, source, events, err);
}

void loop_add_direct(struct loop *loop, struct loop_source *source)
{
	struct err ignored; /* there is no such descriptor on this system */

	(void)watch(loop, source, LOOP_IN, &ignored);
}

void loop_remove(struct loop *loop, struct loop_source *source)
{
	if (source->fd < 0)
		return;
	(void)set(loop, source, EVFILT_READ, false, 0);
	(void)set(loop, source, EVFILT_WRITE, false, 0);
}

static uint32_t told(const struct kevent *event)
{
	bool end = event->flags & EV_EOF;

	if (event->flags & EV_ERROR)
		return LOOP_ERR;
	if (event->filter == EVFILT_WRITE)
		return end ? LOOP_OUT | LOOP_HUP : LOOP_OUT;
	return end ? LOOP_IN | LOOP_RDHUP | (event->fflags ? LOOP_ERR : 0) : LOOP_IN;
}

int loop_run(struct loop *loop, int timeout_ms, struct err *err)
{
	const struct timespec wait = { timeout_ms / 1000, timeout_ms % 1000 * 1000000L };

	while (!loop->done) {
		struct kevent event;
		struct loop_source *source;
		int n = kevent(loop->fd, NULL, 0, &event, 1, timeout_ms < 0 ? NULL : &wait), r;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(err, errno, "kevent");
		if (n == 0)
			return 1;
		source = event.udata;
		r = source->on_event(source, told(&event), err);
		if (r < 0)
			return r;
	}
	return 0;
}
