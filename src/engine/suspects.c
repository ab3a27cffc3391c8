/* SPDX-License-Identifier: MIT */
/* Looking for who it was; see suspects.h. All that is read comes from the kernel. */
#include "engine/suspects.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/dir.h"
#include "os/fs.h"
#include "os/proc.h"

enum { LIST_MAX = 1 << 17, CROWD_MAX = 4096, DEPTH_MAX = 200, FDS_MAX = 256 };

struct member {
	pid_t pid, parent;
	unsigned long pages;
};

struct members {
	struct member *of; /* CROWD_MAX */
	size_t n;
};

/* --- who is there --- */

/* The fields behind the name, which a process chooses itself. */
static const char *read_stat(pid_t pid, char *buf, size_t size)
{
	char path[64], *end;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (os_read_start_at(AT_FDCWD, path, buf, size) < 0)
		return NULL;
	end = strrchr(buf, ')');
	return end ? end + 1 : NULL;
}

static void add_member(struct members *m, pid_t pid)
{
	char text[1024];
	const char *fields = m->n < CROWD_MAX ? read_stat(pid, text, sizeof(text)) : NULL;
	struct member *member = &m->of[m->n];

	member->pid = pid;
	if (fields && sscanf(fields,
			     " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
			     "%*d %*d %*u %*u %lu",
			     &member->parent, &member->pages) == 2)
		m->n++;
}

/* Each of the numbers, which have spaces or newlines between them, to 'fn'. */
static void each_number(const char *list, struct members *m, int depth,
			void (*fn)(struct members *, pid_t, int))
{
	char *end;

	for (long pid; (pid = strtol(list, &end, 10)) > 0; list = end)
		fn(m, (pid_t)pid, depth);
}

static void add_listed(struct members *m, pid_t pid, _unused_ int depth)
{
	add_member(m, pid);
}

static void add_below(struct members *m, pid_t pid, int depth)
{
	_cleanup_free_ char *list = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	if (depth > 0)
		add_member(m, pid);
	if (depth < DEPTH_MAX && m->n < CROWD_MAX &&
	    os_read_file_at(AT_FDCWD, path, LIST_MAX, &list, NULL) == 0)
		each_number(list, m, depth + 1, add_below);
}

/* Release with free(). */
static void list_members(const struct crowd *crowd, struct members *m)
{
	_cleanup_free_ char *list = NULL;

	*m = (struct members){ .of = calloc(CROWD_MAX + 1, sizeof(*m->of)) };
	if (!m->of)
		return;
	if (crowd->group < 0)
		add_below(m, crowd->sandbox->first, 0);
	else if (os_read_file_at(crowd->group, "cgroup.procs", LIST_MAX, &list, NULL) == 0)
		each_number(list, m, 0, add_listed);
	known(m->of);
}

int crowd_open_root(const struct sandbox *sandbox)
{
	char path[64], list[32];
	long pid;

	if (sandbox->view >= 0)
		return fcntl(sandbox->view, F_DUPFD_CLOEXEC, 3);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", sandbox->first, sandbox->first);
	if (os_read_start_at(AT_FDCWD, path, list, sizeof(list)) < 0)
		return -1;
	pid = strtol(list, NULL, 10);
	snprintf(path, sizeof(path), "/proc/%ld/root", pid);
	return pid > 0 ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
}

static struct owner *likely(pid_t pid)
{
	struct owner *owner = pid > 0 ? owner_of(pid) : NULL;

	if (owner)
		owner->likely = true;
	return owner;
}

/* --- processes --- */

static int by_parent(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return (x->parent > y->parent) - (x->parent < y->parent);
}

static bool is_member(const struct members *m, pid_t pid)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->of[i].pid == pid)
			return true;
	return false;
}

struct owner *suspects_find_parent(const struct crowd *crowd)
{
	struct members m;
	size_t most = 0;
	pid_t pid = 0;

	list_members(crowd, &m);
	if (m.n)
		qsort(m.of, m.n, sizeof(*m.of), by_parent);
	for (size_t i = 0, next; i < m.n; i = next) {
		for (next = i; next < m.n && m.of[next].parent == m.of[i].parent; next++)
			;
		/* The first process has made none of them. */
		if (next - i > most && m.of[i].parent != crowd->sandbox->first &&
		    is_member(&m, m.of[i].parent)) {
			most = next - i;
			pid = m.of[i].parent;
		}
	}
	free(m.of);
	return likely(pid);
}

/* --- memory --- */

static int by_size(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return (x->pages < y->pages) - (x->pages > y->pages);
}

static bool has_ended(const struct suspect *s)
{
	struct pollfd fd = { .fd = s->pidfd, .events = POLLIN };

	return poll(&fd, 1, 0) == 1;
}

static void drop(struct suspects *s, size_t i)
{
	close(s->held[i].pidfd);
	owner_unref(s->held[i].owner);
	memmove(&s->held[i], &s->held[i + 1], (--s->n - i) * sizeof(*s->held));
}

static bool is_held(const struct suspects *s, pid_t pid)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->held[i].pid == pid)
			return true;
	return false;
}

static void hold(struct suspects *s, pid_t pid)
{
	int pidfd = os_pidfd_open(pid);
	struct owner *owner = pidfd < 0 ? NULL : owner_of(pid);

	if (owner)
		s->held[s->n++] = (struct suspect){ pid, pidfd, owner };
	else if (pidfd >= 0)
		close(pidfd);
}

void suspects_hold(struct suspects *s, const struct crowd *crowd)
{
	struct members m;

	list_members(crowd, &m);
	if (m.n)
		qsort(m.of, m.n, sizeof(*m.of), by_size);
	for (size_t i = 0; i < s->n;) {
		bool large = has_ended(&s->held[i]);

		for (size_t n = 0; n < MIN(m.n, (size_t)SUSPECTS_MAX); n++)
			large |= m.of[n].pid == s->held[i].pid;
		if (large)
			i++;
		else
			drop(s, i);
	}
	for (size_t i = 0; i < MIN(m.n, (size_t)SUSPECTS_MAX) && s->n < SUSPECTS_MAX; i++)
		if (!is_held(s, m.of[i].pid))
			hold(s, m.of[i].pid);
	free(m.of);
}

/* Of a process that need not be our child and may be reaped: Linux 6.15. */
struct pidfd_exit {
	uint64_t mask, cgroup;
	uint32_t ids[11];
	int32_t status;
};
#define PIDFD_EXIT_MASK (1U << 3)
#define PIDFD_EXIT_ASK _IOWR(0xff, 11, struct pidfd_exit)

/* The wait status of one that has ended; -1: it is not to be known. */
static int status_of(const struct suspect *s)
{
	struct pidfd_exit exit_info = { .mask = PIDFD_EXIT_MASK };
	char text[2048];
	const char *fields, *last;

	if (ioctl(s->pidfd, PIDFD_EXIT_ASK, &exit_info) == 0 && (exit_info.mask & PIDFD_EXIT_MASK))
		return exit_info.status;
	/* Nobody has reaped it: it is still in /proc, with its status at the end. */
	fields = read_stat(s->pid, text, sizeof(text));
	last = fields && !strncmp(fields, " Z ", 3) ? strrchr(fields, ' ') : NULL;
	return last && os_pidfd_kill(s->pidfd, 0) == 0 ? (int)strtol(last, NULL, 10) : -1;
}

struct owner *suspects_take_ended(struct suspects *s, bool unsure)
{
	for (size_t i = 0; i < s->n; i++) {
		int status = has_ended(&s->held[i]) ? status_of(&s->held[i]) : 0;
		struct owner *owner;

		if (!(unsure && status < 0) &&
		    !(status > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL))
			continue;
		owner = s->held[i].owner;
		owner->refs++;
		owner->likely = status < 0;
		drop(s, i);
		return owner;
	}
	return NULL;
}

void suspects_release(struct suspects *s)
{
	while (s->n)
		drop(s, s->n - 1);
}

/* --- files --- */

/* "flags:	0100001" */
static bool writes(pid_t pid, const char *fd)
{
	char path[300], text[256], *flags;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%s", pid, fd);
	if (os_read_start_at(AT_FDCWD, path, text, sizeof(text)) < 0)
		return false;
	flags = strstr(text, "flags:");
	return flags && (strtoul(flags + strlen("flags:"), NULL, 8) & O_ACCMODE) != O_RDONLY;
}

/* The length of the longest; -1: none. */
static off_t longest_file(pid_t pid, dev_t dev)
{
	const struct dirent *entry;
	off_t longest = -1;
	size_t seen = 0;
	char path[64];
	_cleanup_dir_ DIR *dir = NULL;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	while ((entry = os_dir_next(dir)) && seen++ < FDS_MAX) {
		struct stat st;

		if (fstatat(dirfd(dir), entry->d_name, &st, 0) == 0 && st.st_dev == dev &&
		    S_ISREG(st.st_mode) && st.st_size > longest && writes(pid, entry->d_name))
			longest = st.st_size;
	}
	return longest;
}

struct owner *suspects_find_writer(const struct crowd *crowd, dev_t dev)
{
	struct members m;
	off_t most = -1;
	pid_t pid = 0;

	list_members(crowd, &m);
	for (size_t i = 0; i < m.n; i++) {
		off_t longest = longest_file(m.of[i].pid, dev);

		if (longest > most) {
			most = longest;
			pid = m.of[i].pid;
		}
	}
	free(m.of);
	return likely(pid);
}
