/* SPDX-License-Identifier: MIT */
/* How many there are; see headcount.h. */
#include "engine/headcount.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/suspects.h"
#include "os/dir.h"
#include "os/fs.h"
#include "os/timer.h"
#include "session/denial.h"

enum {
	ASKED_MS = 100,    /* a limit that somebody named */
	DEFAULT_MS = 2000, /* ours: only a fork bomb comes there, and it stays */
	NEAR_MS = 10,      /* half of it is there already */
	SHARE = 20,        /* counting takes no more than that part of the time */
};

/* The least of the plan's and of what we were given. */
static uint64_t limit_of(const struct plan *plan)
{
	struct rlimit own;

	return getrlimit(RLIMIT_NPROC, &own) < 0 ? plan->limits.pids
						 : MIN(plan->limits.pids, (uint64_t)own.rlim_max);
}

/* Of the whole machine, all threads; as many as can be where that is not known. One read, and mostly enough. */
static uint64_t count_machine(void)
{
	_cleanup_close_ int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	unsigned long long total;
	char text[128];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (n <= 0)
		return UINT64_MAX;
	text[n] = '\0';
	return sscanf(text, "%*s %*s %*s %*u/%llu", &total) == 1 ? total : UINT64_MAX;
}

/* Who may mount could show anything there: such a sandbox is not counted (plan_watched_limits()). */
static int open_proc(const struct sandbox *sandbox)
{
	_cleanup_close_ int root = crowd_open_root(sandbox);

	return os_openat2(root, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, RESOLVE_NO_SYMLINKS);
}

/* Processes and threads in there; the links of /proc/N/task are as many, and two. */
static uint64_t count_inside(int proc)
{
	_cleanup_dir_ DIR *dir = os_dir_open(proc, ".");
	const struct dirent *entry;
	uint64_t count = 0;

	while ((entry = os_dir_next(dir))) {
		char path[sizeof(entry->d_name) + 8];
		struct stat st;

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "%s/task", entry->d_name);
		if (fstatat(proc, path, &st, 0) == 0 && st.st_nlink > 2)
			count += st.st_nlink - 2;
	}
	return count;
}

static void tell(const struct headcount *h, uint64_t limit)
{
	const struct crowd crowd = { h->sandbox, -1 };
	struct owner *owner = suspects_find_parent(&crowd);
	char value[DENIAL_LIMIT_MAX];
	struct denial denial;

	denial_of_limit(&denial, DENIAL_PROCESSES, limit, value);
	denial.predicted = true;
	denial.owner = owner;
	sandbox_tell_denied(h->sandbox, &denial, 0);
	owner_unref(owner);
}

static void look(struct headcount *h)
{
	uint64_t limit = limit_of(h->sandbox->plan);
	bool was = h->at;
	uint64_t count;

	h->at = h->near = false;
	if (count_machine() < limit)
		return;
	if (h->proc < 0)
		h->proc = open_proc(h->sandbox);
	if (h->proc < 0)
		return;
	count = count_inside(h->proc);
	h->at = count >= limit;
	h->near = !h->at && count >= limit / 2;
	if (h->at && !was)
		tell(h, limit);
}

static unsigned period(const struct headcount *h)
{
	if (h->near)
		return NEAR_MS;
	return h->sandbox->plan->limits.asked & LIMIT_BIT(LIMIT_PIDS) ? ASKED_MS : DEFAULT_MS;
}

static int on_timer(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	struct headcount *h = container_of(source, struct headcount, timer);
	int64_t start = os_now_ms(), took;

	(void)os_timer_take(source->fd);
	look(h);
	took = os_now_ms() - start;
	(void)os_timer_set(source->fd, MAX(period(h), (unsigned)MIN(took * SHARE, 60000)), 0);
	return 0;
}

void headcount_start(struct headcount *h, struct loop *loop, struct sandbox *sandbox)
{
	struct err err;

	*h = (struct headcount)HEADCOUNT_NONE;
	if (!(plan_watched_limits(sandbox->plan) & LIMIT_BIT(LIMIT_PIDS)))
		return;
	h->sandbox = sandbox;
	h->timer = (struct loop_source){ .fd = os_timer_open(), .on_event = on_timer };
	h->loop = loop;
	if (h->timer.fd < 0 || os_timer_set(h->timer.fd, period(h), 0) < 0 ||
	    loop_add(loop, &h->timer, LOOP_IN, &err) < 0) {
		err_set(&err, EIO, "the number of processes cannot be watched here");
		sandbox_warn(sandbox, &err);
	}
}

void headcount_stop(struct headcount *h)
{
	if (h->timer.fd >= 0) {
		loop_remove(h->loop, &h->timer);
		close(h->timer.fd);
	}
	close_ptr(&h->proc);
	*h = (struct headcount)HEADCOUNT_NONE;
}
