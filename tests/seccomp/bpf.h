/* SPDX-License-Identifier: MIT */
/* Runs a seccomp program without the kernel. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <linux/seccomp.h>

#include "os/linux/seccomp.h"

/*
 * Runs a program; a fall off the end is 'allow', as what the loader puts after fragments. 'only_nr':
 * as the kernel does when it looks for calls that are always allowed, gives up (returns "kill") where
 * the answer needs more than number and arch.
 */
static inline uint32_t run(const struct seccomp_program *p, const struct seccomp_data *d,
			   bool only_nr)
{
	uint32_t a = 0;

	for (unsigned pc = 0; pc < p->len; pc++) {
		const struct sock_filter *i = &p->insns[pc];

		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			if (only_nr && i->k > offsetof(struct seccomp_data, arch))
				return SECCOMP_RET_KILL_PROCESS;
			memcpy(&a, (const char *)d + i->k, sizeof(a));
			break;
		case BPF_RET | BPF_K:
			return i->k;
		case BPF_JMP | BPF_JA:
			pc += i->k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			pc += a == i->k ? i->jt : i->jf;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			pc += a >= i->k ? i->jt : i->jf;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			pc += (a & i->k) ? i->jt : i->jf;
			break;
		default:
			return SECCOMP_RET_KILL_PROCESS;
		}
	}
	return SECCOMP_RET_ALLOW;
}
