/* SPDX-License-Identifier: MIT */
#include "os/linux/processor.h"

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
