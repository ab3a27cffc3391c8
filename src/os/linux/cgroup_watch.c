/* SPDX-License-Identifier: MIT */
/* Who waits for a control group's counts; see cgroup_watch.h. */
#include "os/linux/cgroup_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>

#include "os/fs.h"
#include "os/linux/cgroup_priv.h"
#include "os/watch.h"

/* Version 1 counts where the process is, and so does version 2 before Linux 6.11 with processes. */
static const struct {
	enum limit limit;
	const char *file, *key;
} counters[] = {
	{ LIMIT_MEMORY, "memory.events", "oom_kill" },
	{ LIMIT_MEMORY, "memory.oom_control", "oom_kill" },
	{ LIMIT_PIDS, "pids.events", "max" },
};

static int duplicate(int fd)
{
	return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

/* Whether this group counts something. Without a wake it is asked at the end. */
static bool watch_files(int wakes, int group)
{
	bool any = false;

	for (size_t i = 0; group >= 0 && i < ARRAY_LEN(counters); i++) {
		char path[64];

		if (faccessat(group, counters[i].file, R_OK, 0) < 0)
			continue;
		any = true;
		snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", group, counters[i].file);
		(void)inotify_add_watch(wakes, path, IN_MODIFY);
	}
	return any;
}

/* Version 1: an eventfd that is told before anybody is ended. */
static int watch_scarcity(int group)
{
	_cleanup_close_ int file = openat(group, "memory.oom_control", O_RDONLY | O_CLOEXEC);
	_cleanup_close_ int control = openat(group, "cgroup.event_control",
					     O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	_cleanup_close_ int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	char words[32];
	int n = snprintf(words, sizeof(words), "%d %d", event, file);

	if (file < 0 || control < 0 || event < 0 || write(control, words, (size_t)n) != n)
		return -1;
	return take_fd(&event);
}

static void begin(struct cgroup_watch *w)
{
	bool any = false;

	w->wakes = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	for (size_t i = 0; i < ARRAY_LEN(w->group); i++)
		any |= watch_files(w->wakes, w->group[i]);
	if (!any)
		cgroup_watch_stop(w);
}

/* podman's crun may have a second level below the scope with the limits. */
static bool is_scope(const char *name)
{
	return !strncmp(name, "libpod-", strlen("libpod-")) ||
	       !strncmp(name, CGROUP_PREFIX, strlen(CGROUP_PREFIX));
}

/* "0::/path" of the process, as a directory; "" when it is not known. */
static void find_group(pid_t pid, char *ret, size_t size)
{
	const char *root = faccessat(AT_FDCWD, "/sys/fs/cgroup/cgroup.procs", F_OK, 0) == 0
				   ? "/sys/fs/cgroup"
				   : "/sys/fs/cgroup/unified";
	char path[64], text[4096], *line;

	*ret = '\0';
	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	if (os_read_start_at(AT_FDCWD, path, text, sizeof(text)) < 0)
		return;
	line = !strncmp(text, "0::", 3) ? text : strstr(text, "\n0::");
	if (!line)
		return;
	line = strchr(line, '/');
	if (!line || !strncmp(line, "/..", 3))
		return;
	line[strcspn(line, "\n")] = '\0';
	if ((size_t)snprintf(ret, size, "%s%s", root, line) >= size)
		*ret = '\0';
}

void cgroup_watch_of(struct cgroup_watch *w, pid_t first)
{
	char dir[CGROUP_DIR_MAX];
	const char *name;
	char *slash;

	*w = (struct cgroup_watch)CGROUP_WATCH_NONE;
	find_group(first, dir, sizeof(dir));
	slash = strrchr(dir, '/');
	if (!slash)
		return;
	w->group[0] = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	w->members = duplicate(w->group[0]);
	name = slash + 1;
	if (!is_scope(name)) {
		*slash = '\0';
		name = strrchr(dir, '/') ? strrchr(dir, '/') + 1 : "";
		if (!is_scope(name)) { /* nobody made it for this sandbox */
			cgroup_watch_stop(w);
			return;
		}
		w->group[1] = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	begin(w);
}

void cgroup_watch_own(struct cgroup_watch *w, const struct cgroup *cg, pid_t first)
{
	*w = (struct cgroup_watch)CGROUP_WATCH_NONE;
	if (cg->kind == CGROUP_SYSTEMD) {
		cgroup_watch_of(w, first);
	} else if (cg->kind == CGROUP_V2) {
		w->group[0] = duplicate(cg->dir[0]);
		w->members = duplicate(cg->leaf[0]);
		begin(w);
	} else if (cg->kind == CGROUP_V1) {
		int memory = cg->leaf[LIMIT_MEMORY];

		w->group[0] = duplicate(memory);
		w->group[1] = duplicate(cg->leaf[LIMIT_PIDS]);
		w->silent = true;
		w->members = duplicate(memory < 0 ? cg->leaf[LIMIT_PIDS] : memory);
		begin(w);
		if (w->members >= 0 && memory >= 0)
			w->scarce = watch_scarcity(memory);
	}
}

void cgroup_watch_take(const struct cgroup_watch *w)
{
	uint64_t times;

	if (w->wakes >= 0)
		os_watch_take(w->wakes);
	while (w->scarce >= 0 && read(w->scarce, &times, sizeof(times)) > 0)
		;
}

void cgroup_watch_stop(struct cgroup_watch *w)
{
	int *const fds[] = { &w->group[0], &w->group[1], &w->members, &w->wakes, &w->scarce };

	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		if (*fds[i] >= 0)
			close(take_fd(fds[i]));
}

void cgroup_watch_counts(const struct cgroup_watch *w, struct cgroup_counts *ret)
{
	*ret = (struct cgroup_counts){ { 0 } };
	for (size_t i = 0; i < ARRAY_LEN(counters); i++)
		for (size_t g = 0; g < ARRAY_LEN(w->group); g++) {
			uint64_t n = cgroup_count(w->group[g], counters[i].file, counters[i].key);

			ret->of[counters[i].limit] = MAX(ret->of[counters[i].limit], n);
		}
}
