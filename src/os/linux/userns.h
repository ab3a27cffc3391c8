/* SPDX-License-Identifier: MIT */
/* User namespaces: made with clone3, mapped one to one. */
#pragma once

#include <sys/types.h>

#include "base/err.h"

/* fork() with namespaces (CLONE_NEW*), a pidfd and no signal handlers; returns the pid, 0 in the child, or -errno. */
pid_t userns_clone(uint64_t flags, int cgroup_fd, int *ret_pidfd);

/* In the child: the one user and group that exist inside are the host's own. */
int userns_map_self(uid_t uid, gid_t gid, struct err *err);

/* In the child: inotify's instances and watches are counted for the user as a whole. Those of the namespace
 * leave a quarter to the programs outside, where that can be said (not in a namespace that may not write
 * to /proc/sys). */
void userns_leave_quota(void);

/* From outside, by newuidmap or newgidmap: 'own' is 0 inside, and 'count' ids from 'first' follow it. */
int userns_map_range(const char *program, pid_t pid, unsigned own, unsigned first, unsigned count,
		     struct err *err);

/* Says why a user namespace cannot be made here and what fixes it, for the errno of the attempt. */
int userns_explain(int code, struct err *err);
