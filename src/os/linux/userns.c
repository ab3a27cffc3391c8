/* SPDX-License-Identifier: MIT */
/* User namespaces, and the reasons why a host refuses them. */
#include "os/linux/userns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "os/fs.h"
#include "os/linux/caps.h"
#include "os/proc.h"

#ifndef CLONE_CLEAR_SIGHAND
#define CLONE_CLEAR_SIGHAND 0x100000000ULL
#endif
#ifndef CLONE_INTO_CGROUP
#define CLONE_INTO_CGROUP 0x200000000ULL
#endif

pid_t userns_clone(uint64_t flags, int cgroup_fd, int *ret_pidfd)
{
	struct clone_args args = {
		.flags = flags | CLONE_PIDFD | CLONE_CLEAR_SIGHAND |
			 (cgroup_fd >= 0 ? CLONE_INTO_CGROUP : 0),
		.pidfd = (uint64_t)(uintptr_t)ret_pidfd,
		.exit_signal = SIGCHLD,
		.cgroup = cgroup_fd >= 0 ? (uint64_t)cgroup_fd : 0,
	};
	bool raised = (flags & CLONE_NEWUSER) && caps_raise_map_root(true);
	long pid = syscall(SYS_clone3, &args, sizeof(args));
	int code = errno;

	if (raised && pid != 0)
		caps_raise_map_root(false);
	return pid < 0 ? -code : (pid_t)pid;
}

static int write_self(const char *path, const char *text, struct err *err)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		return err_errno(err, errno, "writing '%s'", path);
	return 0;
}

int userns_map_self(uid_t uid, gid_t gid, struct err *err)
{
	char map[64];
	int r;

	snprintf(map, sizeof(map), "%u %u 1", uid, uid);
	r = write_self("/proc/self/uid_map", map, err);
	if (r < 0)
		return r == -EPERM || r == -EACCES ? userns_explain(-r, err) : r;
	r = write_self("/proc/self/setgroups", "deny", err);
	if (r < 0)
		return r;
	snprintf(map, sizeof(map), "%u %u 1", gid, gid);
	return write_self("/proc/self/gid_map", map, err);
}

static void leave(const char *from, const char *to)
{
	_cleanup_free_ char *text = NULL;
	struct err ignored;
	char most[24];
	long n;

	if (os_read_file_at(AT_FDCWD, from, 64, &text, NULL) < 0)
		return;
	n = strtol(text, NULL, 10);
	snprintf(most, sizeof(most), "%ld", n - n / 4);
	(void)write_self(to, most, &ignored);
}

void userns_leave_quota(void)
{
	leave("/proc/sys/fs/inotify/max_user_instances", "/proc/sys/user/max_inotify_instances");
	leave("/proc/sys/fs/inotify/max_user_watches", "/proc/sys/user/max_inotify_watches");
}

int userns_map_range(const char *program, pid_t pid, unsigned own, unsigned first, unsigned count,
		     struct err *err)
{
	char number[4][16];
	char *const argv[] = { (char *)program, number[0], (char *)"0", number[1], (char *)"1",
			       (char *)"1",     number[2], number[3],   NULL };
	_cleanup_free_ char *said = NULL;
	int status;

	snprintf(number[0], sizeof(number[0]), "%d", pid);
	snprintf(number[1], sizeof(number[1]), "%u", own);
	snprintf(number[2], sizeof(number[2]), "%u", first);
	snprintf(number[3], sizeof(number[3]), "%u", count);
	status = os_capture_all(argv, 10, 4096, &said);
	if (status == 0)
		return 0;
	err_set(err, EPERM, "'%s' failed: %.200s", program, said ? said : "it could not be run");
	return err_hint(err, "it must be set-user-ID root, and the range in /etc/subuid and "
			     "/etc/subgid the user's own");
}

#define MAX_ROW(kind)                                                       \
	{                                                                   \
		"/proc/sys/user/max_" kind "_namespaces", '0',              \
			"sudo sysctl -w user.max_" kind "_namespaces=15000" \
	}

/* The switches that close user namespaces to ordinary users, and the value that opens them. */
static const struct {
	const char *path;
	char closed;
	const char *fix;
} switches[] = {
	{ "/proc/sys/kernel/unprivileged_userns_clone", '0',
	  "sudo sysctl -w kernel.unprivileged_userns_clone=1" },
	MAX_ROW("user"),
	MAX_ROW("mnt"),
	MAX_ROW("pid"),
	MAX_ROW("net"),
	MAX_ROW("ipc"),
	MAX_ROW("cgroup"),
	MAX_ROW("uts"),
	{ "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", '1',
	  "let wrapix have a profile: sudo scripts/apparmor build/wrapix (in its source tree), or "
	  "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 " },
};

int userns_explain(int code, struct err *err)
{
	_cleanup_free_ char *init = NULL;

	err_errno(err, code, "making a user namespace");
	for (size_t i = 0; i < ARRAY_LEN(switches); i++) {
		_cleanup_free_ char *value = NULL;

		if (os_read_file_at(AT_FDCWD, switches[i].path, 64, &value, NULL) == 0 &&
		    value[0] == switches[i].closed)
			return err_hint(err, "%s", switches[i].fix);
	}
	if (os_read_file_at(AT_FDCWD, "/proc/1/cmdline", 4096, &init, NULL) == 0 &&
	    !strcmp(init, "wrapix-init"))
		return err_hint(err, "this is a sandbox already; one that holds others is started "
				     "with --allow-nested");
	if (code == ENOSPC || code == EUSERS)
		return err_hint(err, "the limit is reached: sudo sysctl -w "
				     "user.max_user_namespaces=15000, or nest less deeply");
	return err_hint(
		err, "inside a container, allow user namespaces in its seccomp profile "
		     "(podman run --security-opt seccomp=unconfined), or run wrapix on the host");
}
