/* SPDX-License-Identifier: MIT */
/*
 * The walls of Linux, on macOS: there are none, and each says so. Nothing here lets a caller believe that it is
 * confined. What only reads numbers of another host's (plans can be made for any) gives the same answer as there.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/sysctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/linux/caps.h"
#include "os/linux/cgroup.h"
#include "os/linux/landlock.h"
#include "os/linux/overlay.h"
#include "os/linux/seccomp.h"
#include "os/linux/userns.h"
#include "os/proc.h"

static int lacking(struct err *err, const char *what)
{
	return err_set(err, ENOTSUP, "%s is Linux's: macOS has none", what);
}

/* --- Landlock --- */

int landlock_abi(void)
{
	return 0;
}

bool landlock_handles_files(int abi)
{
	return abi >= 2;
}

bool landlock_has_scopes(int abi)
{
	return abi >= 6;
}

int landlock_restrict(_unused_ int abi, _unused_ const struct landlock_rule *rules,
		      _unused_ size_t n, struct err *err)
{
	return lacking(err, "Landlock");
}

/* --- seccomp --- */

const char seccomp_json_default[] = "{}", seccomp_json_nested[] = "{}";

unsigned seccomp_features(void)
{
	return 0;
}

bool seccomp_is_on(void)
{
	return false;
}

int seccomp_load(_unused_ unsigned flags, _unused_ int *ret_listener, struct err *err)
{
	return lacking(err, "the filter of system calls (seccomp)");
}

const char *seccomp_describe(unsigned flags)
{
	return flags & SECCOMP_ROOT ? "root" : flags & SECCOMP_NESTED ? "nested" : "default";
}

const struct seccomp_program *seccomp_refused(_unused_ unsigned flags)
{
	static const struct seccomp_call no_calls[] = { { 0 } };
	static const struct seccomp_program nothing = { .calls = no_calls };

	return &nothing;
}

/* --- user namespaces --- */

/* A child that has ended cannot be watched any more: it waits until it is. */
pid_t userns_clone(uint64_t flags, _unused_ int cgroup_fd, int *ret_pidfd)
{
	int gate[2], r;
	char none;
	pid_t pid;

	if (flags)
		return -ENOTSUP;
	if (pipe2(gate, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	r = pid < 0 ? -errno : 0;
	close(gate[pid == 0]);
	if (pid == 0)
		(void)!read(gate[0], &none, 1);
	else if (pid > 0)
		r = *ret_pidfd = os_pidfd_open(pid);
	close(gate[pid != 0]);
	if (pid > 0 && r < 0) {
		kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
	}
	return r < 0 ? r : pid;
}

int userns_map_self(_unused_ uid_t uid, _unused_ gid_t gid, struct err *err)
{
	return lacking(err, "a user namespace");
}

int userns_map_range(_unused_ const char *program, _unused_ pid_t pid, _unused_ unsigned own,
		     _unused_ unsigned first, _unused_ unsigned count, struct err *err)
{
	return lacking(err, "a user namespace");
}

/* --- capabilities, overlayfs, control groups --- */

/* A process has none to lose. */
int caps_drop_all(_unused_ struct err *err)
{
	return 0;
}

bool overlay_tmpfs_works(void)
{
	return false;
}

bool overlay_probe(_unused_ const char *base)
{
	return false;
}

void cgroup_probe(struct cgroup_facts *ret)
{
	size_t len = sizeof(ret->ram);

	*ret = (struct cgroup_facts){ .layout = CGROUP_LAYOUT_NONE, .uid = getuid() };
	if (sysctlbyname("hw.memsize", &ret->ram, &len, NULL, 0) < 0)
		ret->ram = 0;
}
