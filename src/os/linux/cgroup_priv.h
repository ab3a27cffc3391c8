/* SPDX-License-Identifier: MIT */
/* Between the files of cgroup*.c. */
#pragma once

#include "os/linux/cgroup.h"

#define CGROUP_PREFIX "wrapix-"
#define CGROUP_PIDS_MAX 8192 /* by default; limits.c says why */
#define LIMIT_ALL (LIMIT_BIT(LIMIT_MEMORY) | LIMIT_BIT(LIMIT_PIDS) | LIMIT_BIT(LIMIT_CPUS))

extern const char *const cgroup_controllers[LIMIT_COUNT]; /* "memory", "pids", "cpu" */

/* The probe with its inputs named: proc is the text of /proc/self/cgroup, root stands for
 * /sys/fs/cgroup, runtime for XDG_RUNTIME_DIR. For tests. */
void cgroup_probe_in(struct cgroup_facts *ret, const char *proc, const char *root,
		     const char *runtime);

/* The LIMIT_BITs of the limits that are set. */
unsigned cgroup_wanted(const struct cgroup_limits *limits);

/* Puts pid into a new scope of the user's manager and waits until it is there. */
int cgroup_systemd_enter(const struct cgroup *cg, pid_t pid, struct err *err);
/* The same with the scope that is there. */
int cgroup_systemd_follow(const struct cgroup *cg, pid_t pid, struct err *err);

/* The number behind "key " at the start of a line of a group's file; 0 when there is none. */
uint64_t cgroup_count(int group, const char *file, const char *key);
