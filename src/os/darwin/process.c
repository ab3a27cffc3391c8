/* SPDX-License-Identifier: MIT */
/* Processes, as macOS has them: no descriptor of a process, no word of a parent's death. */
#include <errno.h>
#include <libproc.h>
#include <mach/vm_inherit.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/event.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>

#include "os/proc.h"

enum { WATCHED_MAX = 256, ROUNDS = 64 };

/* A process stands behind a kqueue that waits for its end; which one it is, is kept here. */
static struct {
	int fd;
	pid_t pid;
} watched[WATCHED_MAX];

void os_close_all_but(int first, const int *keep, size_t n)
{
	long last = sysconf(_SC_OPEN_MAX);

	for (int fd = first; fd < (last > 0 && last < 65536 ? (int)last : 65536); fd++) {
		bool kept = false;

		for (size_t i = 0; i < n; i++)
			kept |= keep[i] == fd;
		if (!kept)
			close(fd);
	}
}

int os_pidfd_open(pid_t pid)
{
	struct kevent change;
	int fd = kqueue(), code;

	if (fd < 0)
		return -errno;
	(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	EV_SET(&change, (uintptr_t)pid, EVFILT_PROC, EV_ADD, NOTE_EXIT, 0, NULL);
	if (kevent(fd, &change, 1, NULL, 0, NULL) == 0 && fd < WATCHED_MAX) {
		watched[fd].fd = fd;
		watched[fd].pid = pid;
		return fd;
	}
	code = fd < WATCHED_MAX ? errno : EMFILE;
	close(fd);
	return -code;
}

/* The caller has not waited for it yet, so the number is still its own. */
int os_pidfd_kill(int pidfd, int signal_no)
{
	if (pidfd < 0 || pidfd >= WATCHED_MAX || watched[pidfd].fd != pidfd)
		return -EBADF;
	return kill(watched[pidfd].pid, signal_no) < 0 ? -errno : 0;
}

static bool kill_once(pid_t session)
{
	pid_t pids[8192];
	int n = proc_listallpids(pids, sizeof(pids));
	bool any = false;

	for (int i = 0; i < n && i < (int)(sizeof(pids) / sizeof(*pids)); i++)
		if (pids[i] > 1 && pids[i] != session && getsid(pids[i]) == session)
			any |= kill(pids[i], SIGKILL) == 0;
	return any;
}

void os_kill_session(pid_t session)
{
	for (int i = 0; i < ROUNDS && kill_once(session); i++)
		;
}

bool os_has_names(void)
{
	return true;
}

/* Every program has a loader here. */
bool os_is_static_file(_unused_ const char *path)
{
	return false;
}

bool os_is_static(void)
{
	return false;
}

int os_die_with_parent(int signal_no)
{
	(void)signal_no;
	return 0;
}

int os_dumpable(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur > 0;
}

int os_set_dumpable(int dumpable)
{
	const struct rlimit none = { 0, 0 };

	if (dumpable)
		return 0;
	(void)ptrace(PT_DENY_ATTACH, 0, NULL, 0);
	return setrlimit(RLIMIT_CORE, &none);
}

int os_no_new_privileges(void)
{
	return 0;
}

int os_adopt_orphans(void)
{
	return 0;
}

int os_hide_memory(void *pages, size_t len)
{
	return minherit(pages, len, VM_INHERIT_NONE);
}

int os_share_memory(void *pages, size_t len)
{
	return minherit(pages, len, VM_INHERIT_COPY);
}

void os_drop_code(void)
{
}

int os_said_open(void)
{
	return memfd_create("said", MFD_CLOEXEC);
}
