/* SPDX-License-Identifier: MIT */
#include "os/linux/processor.h"

#include <pthread.h>
#include <time.h>

void processor_keep(pid_t thread, struct processor_kept *ret)
{
	int here = sched_getcpu();

	ret->kept = false;
	if (here < 0 || here >= CPU_SETSIZE ||
	    sched_getaffinity(thread, sizeof(ret->before), &ret->before) < 0 ||
	    !CPU_ISSET((size_t)here, &ret->before) || CPU_COUNT(&ret->before) == 1)
		return;
	CPU_ZERO(&ret->only);
	CPU_SET((size_t)here, &ret->only);
	ret->kept = sched_setaffinity(thread, sizeof(ret->only), &ret->only) == 0;
}

void processor_others(struct processor_kept *ret)
{
	int here = sched_getcpu();

	ret->kept = false;
	if (here < 0 || here >= CPU_SETSIZE ||
	    sched_getaffinity(0, sizeof(ret->before), &ret->before) < 0)
		return;
	ret->only = ret->before;
	CPU_CLR((size_t)here, &ret->only);
	ret->kept = CPU_COUNT(&ret->only) > 0;
}

void processor_begin(pid_t process, const struct processor_kept *others)
{
	if (others->kept)
		(void)sched_setaffinity(process, sizeof(others->only), &others->only);
}

void processor_release(pid_t thread, const struct processor_kept *kept)
{
	cpu_set_t now;

	if (kept->kept && sched_getaffinity(thread, sizeof(now), &now) == 0 &&
	    CPU_EQUAL(&now, &kept->only))
		(void)sched_setaffinity(thread, sizeof(kept->before), &kept->before);
}

static struct {
	struct processor_kept kept;
	struct timespec since;
	pid_t last;       /* who was answered */
	bool forks_leave; /* children are released */
} stay;

static void leave(void)
{
	processor_release(0, &stay.kept);
	stay.kept.kept = false;
}

void processor_stay(void)
{
	if (!stay.forks_leave)
		stay.forks_leave = pthread_atfork(NULL, NULL, leave) == 0;
	if (stay.kept.kept || !stay.forks_leave)
		return;
	processor_keep(0, &stay.kept);
	clock_gettime(CLOCK_MONOTONIC_COARSE, &stay.since);
}

void processor_pause(pid_t answered)
{
	struct timespec now;

	if (stay.kept.kept) {
		clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
		if (answered != stay.last || now.tv_sec != stay.since.tv_sec ||
		    now.tv_nsec != stay.since.tv_nsec)
			leave();
	}
	stay.last = answered;
}
