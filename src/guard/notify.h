/* SPDX-License-Identifier: MIT */
/*
 * Guest of the loop: the one reader of a sandbox's seccomp notifications. A process inside hangs in
 * its system call until it is answered here: with "go on", with an errno, or later.
 */
#pragma once

#include <time.h>

#include "os/loop.h"

struct seccomp_notif;

/* An answer; a negative errno makes the call fail with it. */
enum {
	NOTIFY_CONTINUE = 0, /* let the kernel do the call */
	NOTIFY_LATER = 1,    /* notify_answer() will follow, or a descriptor was the answer */
	NOTIFY_DONE = 2,     /* it was done for the caller, who sees 0 */
};

/* Says what becomes of a call. What it sees of the process is hostile and may change under it. */
typedef int notify_fn(void *ctx, const struct seccomp_notif *call);

struct notify {
	struct loop *loop;
	struct loop_source source;
	struct seccomp_notif *call; /* of the size this kernel uses */
	size_t size;
	notify_fn *fn;
	void *ctx;
	bool over;          /* nobody is under the filter any more */
	bool waits;         /* a caller's wait is ended by its death alone, in this kernel */
	struct timespec at; /* just before the last call came in, by the clock that ticks */
};

/* Takes the listener over. */
int notify_start(struct notify *notify, struct loop *loop, int listener, notify_fn *fn, void *ctx,
		 struct err *err);
/* The same for one of several: notify_start() is for the loop's direct source. */
int notify_start_other(struct notify *notify, struct loop *loop, int listener, notify_fn *fn,
		       void *ctx, struct err *err);
/* An ioctl of the listener, also when a signal (Ctrl-Z stops us, a debugger looks) comes while others use it. */
int notify_ask(const struct notify *notify, unsigned long request, void *arg);
void notify_answer(const struct notify *notify, uint64_t id, int answer);
/* It was done for the caller, who sees this number. */
void notify_answer_value(const struct notify *notify, uint64_t id, int64_t value);
/* Of the call that is being answered: what was read of the caller was its own, also if it has died this very moment. */
bool notify_is_fresh(const struct notify *notify);
/* The caller still hangs in this call: what was read of it in between was its own. */
bool notify_is_valid(const struct notify *notify, uint64_t id);
void notify_stop(struct notify *notify);
