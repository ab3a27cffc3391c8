/* SPDX-License-Identifier: MIT */
/*
 * Stands before the header of this name in a build for macOS: the number of processors, and names for what
 * userns_clone() then refuses.
 */
#pragma once

#include <sys/types.h>

#define CLONE_NEWIPC 0x08000000
#define CLONE_NEWUSER 0x10000000
#define CLONE_NEWPID 0x20000000
#define CLONE_NEWNET 0x40000000

typedef struct {
	int count;
} cpu_set_t;
#define CPU_COUNT(set) ((set)->count)
#define SYS_read 3 /* what a process waits for is not told: it is never this */
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *ret);
