/* SPDX-License-Identifier: MIT */
/* Processes, as far as the kernel has a way of its own with them. */
#include <errno.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/proc.h"

void os_close_all_but(int first, const int *keep, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (keep[i] < first)
			continue;
		if (keep[i] > first)
			syscall(SYS_close_range, first, keep[i] - 1, 0);
		first = keep[i] + 1;
	}
	syscall(SYS_close_range, first, ~0U, 0);
}

int os_pidfd_open(pid_t pid)
{
	long fd = syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : (int)fd;
}

int os_pidfd_kill(int pidfd, int signal_no)
{
	return syscall(SYS_pidfd_send_signal, pidfd, signal_no, NULL, 0) < 0 ? -errno : 0;
}

bool os_is_static(void)
{
	return getauxval(AT_BASE) == 0;
}

int os_die_with_parent(int signal_no)
{
	return prctl(PR_SET_PDEATHSIG, signal_no, 0, 0, 0);
}

int os_dumpable(void)
{
	return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
}

int os_set_dumpable(int dumpable)
{
	return prctl(PR_SET_DUMPABLE, dumpable, 0, 0, 0);
}

int os_no_new_privileges(void)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

int os_adopt_orphans(void)
{
	return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}
