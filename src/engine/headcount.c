/* SPDX-License-Identifier: MIT */
/* How many there are; see headcount.h. */
#include "engine/headcount.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "os/fs.h"
#include "os/timer.h"
#include "session/denial.h"

enum {
	ASKED_MS = 100,    /* a limit that somebody named */
	DEFAULT_MS = 2000, /* ours: only a fork bomb comes there, and it stays */
	SHARE = 20,        /* counting takes no more than that part of the time */
	BUSIEST_SEEN = 100000,
	BUSIEST_DEPTH = 200,
};

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

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
	_cleanup_close_ int root = -1;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root", sandbox->pid);
	if (sandbox->view < 0)
		root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return os_openat2(sandbox->view < 0 ? root : sandbox->view, "proc",
			  O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, RESOLVE_NO_SYMLINKS);
}

/* Processes and threads in there; the links of /proc/N/task are as many, and two. */
static uint64_t count_inside(int proc)
{
	int fd = openat(proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	uint64_t count = 0;

	if (!dir && fd >= 0)
		close(fd);
	while (dir && (entry = readdir(dir))) {
		char path[sizeof(entry->d_name) + 8];
		struct stat st;

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "%s/task", entry->d_name);
		if (fstatat(proc, path, &st, 0) == 0 && st.st_nlink > 2)
			count += st.st_nlink - 2;
	}
	if (dir)
		closedir(dir);
	return count;
}

/* Those of our children's children who have the most of their own. */
struct busiest {
	pid_t pid;
	size_t children;
	size_t seen; /* so far */
};

/* The kernel's list of a thread's children: "12 34 ". */
static size_t each_child(pid_t pid, struct busiest *b, int depth);

static void look_below(pid_t pid, struct busiest *b, int depth)
{
	size_t n = ++b->seen < BUSIEST_SEEN && depth < BUSIEST_DEPTH ? each_child(pid, b, depth)
								     : 0;

	if (n > b->children) {
		b->children = n;
		b->pid = pid;
	}
}

static size_t each_child(pid_t pid, struct busiest *b, int depth)
{
	_cleanup_free_ char *list = NULL;
	char path[64], *at, *end;
	size_t n = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	if (os_read_file_at(AT_FDCWD, path, 1 << 20, &list, NULL) < 0)
		return 0;
	for (at = list; strtol(at, &end, 10) > 0 && end > at; at = end, n++)
		look_below((pid_t)strtol(at, NULL, 10), b, depth + 1);
	return n;
}

/* Who probably made so many: the one with the most children, below PID 1. 0: nobody has any. */
static pid_t find_busiest(const struct sandbox *sandbox)
{
	struct busiest b = { 0 };

	(void)each_child(sandbox->pid, &b, 0);
	return b.pid;
}

static void tell(const struct headcount *h, uint64_t limit)
{
	const struct engine_hooks *hooks = h->sandbox->hooks;
	char value[DENIAL_LIMIT_MAX];
	struct denial denial;

	denial_of_limit(&denial, false, limit, value);
	denial.predicted = true;
	if (hooks && hooks->on_denied)
		hooks->on_denied(hooks->ctx, &denial, find_busiest(h->sandbox));
}

static void look(struct headcount *h)
{
	uint64_t limit = limit_of(h->sandbox->plan);
	bool was = h->at;

	h->at = false;
	if (count_machine() < limit)
		return;
	if (h->proc < 0)
		h->proc = open_proc(h->sandbox);
	if (h->proc < 0)
		return;
	h->at = count_inside(h->proc) >= limit;
	if (h->at && !was)
		tell(h, limit);
}

static unsigned period(const struct headcount *h)
{
	return h->sandbox->plan->limits.asked & LIMIT_BIT(LIMIT_PIDS) ? ASKED_MS : DEFAULT_MS;
}

static int on_timer(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	struct headcount *h = container_of(source, struct headcount, timer);
	uint64_t start = now_ms(), took;

	(void)os_timer_take(source->fd);
	look(h);
	took = now_ms() - start;
	(void)os_timer_set(source->fd, MAX(period(h), (unsigned)MIN(took * SHARE, 60000u)), 0);
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
	if (h->proc >= 0)
		close(h->proc);
	*h = (struct headcount)HEADCOUNT_NONE;
}
