/* SPDX-License-Identifier: MIT */
/*
 * podman's conmon, where podman does not know of it: podman was killed between starting it and writing that down, and in
 * the container somebody waits for a start that never comes. conmon itself wrote down which process it is
 * (--conmon-pidfile); that the number is still its own is told by the session's name among its words.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "engine/podman/container.h"
#include "os/fs.h"
#include "os/proc.h"

enum { PATIENCE_MS = 2000 };

static bool is_conmon_of(pid_t pid, const char *id)
{
	_cleanup_free_ char *words = NULL;
	char path[64], name[64];
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	snprintf(name, sizeof(name), "wrapix-%s", id);
	return os_read_file_at(AT_FDCWD, path, 1 << 17, &words, &len) == 0 &&
	       memmem(words, len, name, strlen(name) + 1);
}

static bool ends(int pidfd)
{
	struct pollfd fd = { .fd = pidfd, .events = POLLIN };

	return poll(&fd, 1, PATIENCE_MS) > 0;
}

/* conmon adopts what is below it, so that nobody is missed who is there now. */
static void kill_below(pid_t pid)
{
	char path[64], list[4096], *at = list, *end;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	if (os_read_start_at(AT_FDCWD, path, list, sizeof(list)) < 0)
		return;
	for (long child; (child = strtol(at, &end, 10)) > 0; at = end) {
		kill_below((pid_t)child);
		kill((pid_t)child, SIGKILL);
	}
}

void conmon_end(const char *stage, const char *id)
{
	struct arena arena = { 0 };
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int pidfd = -1;
	pid_t pid = 0;

	if (os_read_file_at(AT_FDCWD, path_join(&arena, stage, "conmon"), 64, &text, NULL) == 0)
		pid = (pid_t)strtol(text, NULL, 10);
	arena_release(&arena);
	pidfd = pid > 1 ? os_pidfd_open(pid) : -1;
	if (pidfd < 0 || !is_conmon_of(pid, id) || ends(pidfd))
		return;
	kill_below(pid); /* then it ends by itself, and tells podman */
	if (!ends(pidfd))
		(void)os_pidfd_kill(pidfd, SIGKILL);
}
