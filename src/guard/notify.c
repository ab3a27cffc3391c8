/* SPDX-License-Identifier: MIT */
/* Reading and answering seccomp notifications. */
#include "guard/notify.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "os/linux/kernel.h"

/* Linux 6.6: caller and answerer take turns on one processor, which spares waking another. */
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS _IOW('!', 4, __u64)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP 1UL
#endif

int notify_ask(const struct notify *notify, unsigned long request, void *arg)
{
	int r;

	do
		r = ioctl(notify->source.fd, request, arg);
	while (r < 0 && errno == EINTR);
	return r;
}

void notify_answer(const struct notify *notify, uint64_t id, int answer)
{
	struct seccomp_notif_resp response = {
		.id = id,
		.error = answer < 0 ? answer : 0,
		.flags = answer == NOTIFY_CONTINUE ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0,
	};

	/* ENOENT: the caller died meanwhile, and nobody waits for this any more. */
	(void)notify_ask(notify, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

void notify_answer_value(const struct notify *notify, uint64_t id, int64_t value)
{
	struct seccomp_notif_resp response = { .id = id, .val = value };

	(void)notify_ask(notify, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

/* Numbers of threads are given out in turn, so that none is another's before the clock goes on. */
bool notify_is_fresh(const struct notify *notify)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return notify->waits && now.tv_sec == notify->at.tv_sec &&
	       now.tv_nsec == notify->at.tv_nsec;
}

bool notify_is_valid(const struct notify *notify, uint64_t id)
{
	return notify_ask(notify, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

static int on_event(struct loop_source *source, uint32_t events, _unused_ struct err *err)
{
	struct notify *notify = container_of(source, struct notify, source);
	int answer;

	if (!(events & (LOOP_IN | LOOP_HUP)))
		return 0; /* LOOP_ERR: a signal came while the kernel looked */
	if (!(events & LOOP_IN)) {
		loop_remove(notify->loop, source); /* the last process under the filter is gone */
		notify->over = true;
		return 0;
	}
	memset(notify->call, 0, notify->size); /* the kernel insists */
	clock_gettime(CLOCK_MONOTONIC_COARSE, &notify->at);
	if (ioctl(source->fd, SECCOMP_IOCTL_NOTIF_RECV, notify->call) < 0)
		return 0; /* the caller was killed between the event and now */
	answer = notify->fn(notify->ctx, notify->call);
	if (answer != NOTIFY_LATER)
		notify_answer(notify, notify->call->id, answer);
	return 0;
}

static int prepare(struct notify *notify, struct loop *loop, int listener, notify_fn *fn, void *ctx,
		   struct err *err)
{
	struct seccomp_notif_sizes sizes = { 0 };

	*notify = (struct notify){
		.loop = loop,
		.source = { .fd = listener, .on_event = on_event },
		.fn = fn,
		.ctx = ctx,
	};
	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) < 0)
		return err_errno(err, errno, "seccomp notifications");
	notify->size = MAX((size_t)sizes.seccomp_notif, sizeof(*notify->call));
	notify->call = malloc(notify->size);
	if (!notify->call)
		return err_errno(err, ENOMEM, "seccomp notifications");
	/* Where the kernel does not know it, all is well and slower. Who does knows WAIT_KILLABLE_RECV as well (5.19). */
	notify->waits = ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS,
			      SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP) == 0;
	return 0;
}

int notify_start(struct notify *notify, struct loop *loop, int listener, notify_fn *fn, void *ctx,
		 struct err *err)
{
	int r = prepare(notify, loop, listener, fn, ctx, err);

	if (r == 0)
		loop_add_direct(loop, &notify->source);
	return r;
}

int notify_start_other(struct notify *notify, struct loop *loop, int listener, notify_fn *fn,
		       void *ctx, struct err *err)
{
	int r = prepare(notify, loop, listener, fn, ctx, err);

	return r < 0 ? r : loop_add(loop, &notify->source, LOOP_IN, err);
}

void notify_stop(struct notify *notify)
{
	if (notify->source.fd >= 0) {
		loop_remove(notify->loop, &notify->source);
		close(notify->source.fd);
	}
	free(notify->call);
	*notify = (struct notify){ .source.fd = -1 };
}
