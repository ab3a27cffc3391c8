/* SPDX-License-Identifier: MIT */
/* Runs a seccomp program without the kernel. */
#pragma once

#include "../../tools/bpf.h"
#include "os/linux/seccomp.h"

/*
 * Runs a program; a fall off the end is 'allow', as what the loader puts after fragments. 'only_nr':
 * as the kernel does when it looks for calls that are always allowed, gives up (returns "kill") where
 * the answer needs more than number and arch.
 */
static inline uint32_t run(const struct seccomp_program *p, const struct seccomp_data *d,
			   bool only_nr)
{
	size_t visible = only_nr ? offsetof(struct seccomp_data, instruction_pointer) : sizeof(*d);
	uint32_t answer;

	switch (bpf_run(p->insns, p->len, d, visible, &answer)) {
	case BPF_RETURNED:
		return answer;
	case BPF_FELL_OFF:
		return SECCOMP_RET_ALLOW;
	default:
		return SECCOMP_RET_KILL_PROCESS;
	}
}
