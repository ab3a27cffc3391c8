/* SPDX-License-Identifier: MIT */
/*
 * Limits as rlimits.
 *
 * What an rlimit can do, each found by trying (Linux 6.18):
 *   RLIMIT_NPROC  set inside the sandbox's user namespace counts that namespace alone, so it bounds
 *                 the sandbox as a whole, whatever uid it has inside; a further namespace within
 *                 does not escape it. Set before the namespace is made, it counts the user's
 *                 processes outside as well. Uid 0 of the host is not bound by it.
 *   RLIMIT_DATA   counts private writable memory of one process; node runs with 256 MiB of it,
 *                 while RLIMIT_AS would also count the address space that V8 and others reserve.
 *   affinity      keeps programs that do not think about it on few processors; a program inside can
 *                 widen it again.
 */
#include "os/linux/cgroup_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <sys/resource.h>

static int set_rlimit(int resource, uint64_t value, const char *name, struct err *err)
{
	struct rlimit old, new;

	if (getrlimit(resource, &old) < 0)
		return err_errno(err, errno, "reading %s", name);
	/* Never above what we were given: raising the hard limit needs privilege. */
	new.rlim_max = MIN(old.rlim_max, value);
	new.rlim_cur = MIN(old.rlim_cur, new.rlim_max);
	if (resource == RLIMIT_NPROC)
		new.rlim_cur = new.rlim_max; /* a soft limit from outside counted other things */
	if (setrlimit(resource, &new) < 0)
		return err_errno(err, errno, "setting %s to %" PRIu64, name, value);
	return 0;
}

/* n of the allowed processors, from where we happen to run: sandboxes spread. */
static int set_affinity(double cpus, struct err *err)
{
	int n = (int)cpus + (cpus > (int)cpus), count, start, seen = 0;
	cpu_set_t allowed, chosen;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0) {
		/* More than 1024 processors: then few are not worth the trouble. */
		return errno == EINVAL ? 0 : err_errno(err, errno, "reading the affinity");
	}
	count = CPU_COUNT(&allowed);
	if (n >= count)
		return 0;
	start = sched_getcpu() % count;
	CPU_ZERO(&chosen);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		if ((seen - start + count) % count < n)
			CPU_SET(cpu, &chosen);
		seen++;
	}
	if (sched_setaffinity(0, sizeof(chosen), &chosen) < 0)
		return err_errno(err, errno, "keeping to %d processors", n);
	return 0;
}

/* RLIMIT_NPROC also stands behind a group that holds pids: should that fail and the caller go on, a
 * fork bomb is still bounded. One more than the group's, so that the group counts the refusals. */
static int set_nproc(const struct cgroup_facts *facts, uint64_t pids, bool held, struct err *err)
{
	if (facts->nproc_is_own)
		return set_rlimit(RLIMIT_NPROC, pids + held, "RLIMIT_NPROC", err);
	/* Where it counts all of the user's processes, a small number would stop the start. */
	return held ? 0
		    : set_rlimit(RLIMIT_NPROC, MAX(pids, (uint64_t)CGROUP_PIDS_MAX), "RLIMIT_NPROC",
				 err);
}

int rlimits_apply(const struct cgroup_facts *facts, enum cgroup_kind kind,
		  const struct cgroup_limits *limits, struct err *err)
{
	unsigned held = cgroup_holds(facts, kind), left = cgroup_wanted(limits) & ~held;
	int r;

	r = set_rlimit(RLIMIT_CORE, 0, "RLIMIT_CORE", err);
	if (r == 0 && limits->pids)
		r = set_nproc(facts, limits->pids, held & LIMIT_BIT(LIMIT_PIDS), err);
	if (r == 0 && (left & limits->asked & LIMIT_BIT(LIMIT_MEMORY)))
		r = set_rlimit(RLIMIT_DATA, limits->memory, "RLIMIT_DATA", err);
	if (r == 0 && (left & LIMIT_BIT(LIMIT_CPUS)))
		r = set_affinity(limits->cpus, err);
	return r;
}
