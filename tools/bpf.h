/* SPDX-License-Identifier: MIT */
/* Runs a seccomp program without the kernel: only the instructions that our programs have. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

enum bpf_end {
	BPF_RETURNED,    /* with *ret */
	BPF_FELL_OFF,    /* the end came first, as in a fragment */
	BPF_READ_BEYOND, /* it wanted a word that it may not see, or none that there is */
	BPF_UNKNOWN,     /* *ret is the instruction's code */
};

/* 'visible': how many bytes of d it may see. */
static inline enum bpf_end bpf_run(const struct sock_filter *insns, size_t n,
				   const struct seccomp_data *d, size_t visible, uint32_t *ret)
{
	uint32_t a = 0;

	for (uint64_t pc = 0; pc < n; pc++) {
		const struct sock_filter *i = &insns[pc];

		*ret = i->k;
		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			if (i->k > visible - sizeof(a) || i->k % sizeof(a) != 0)
				return BPF_READ_BEYOND;
			memcpy(&a, (const char *)d + i->k, sizeof(a));
			break;
		case BPF_RET | BPF_K:
			return BPF_RETURNED;
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
			*ret = i->code;
			return BPF_UNKNOWN;
		}
	}
	return BPF_FELL_OFF;
}
