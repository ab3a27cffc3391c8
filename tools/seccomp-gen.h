/* SPDX-License-Identifier: MIT */
/* What the parts of seccomp-gen share: lists are read, a program is made of them and checked. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <linux/filter.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#define PASS UINT32_MAX    /* an action: none, fall off the end of the fragment */
#define NR_SKIP UINT32_MAX /* a number: what a tracer writes to skip a call */
#define NR_MAX 1024u       /* every other number is below */

enum op {
	OP_IS,
	OP_NOT,
	OP_HAS,
	OP_LEAST, /* of all 64 bits */
};

struct test {
	unsigned arg;
	enum op op;
	unsigned n;
	uint32_t v[8];
};

struct rule {
	unsigned n_tests; /* 0: fits always */
	struct test tests[4];
	uint32_t action;
};

struct call {
	char name[48];
	char nr_arch[16]; /* the only arch that 'nr' is for; empty: all */
	int64_t nr;       /* -1: by name only */
	bool optional;
	unsigned list; /* which list said so, from 1 */
	unsigned n_rules;
	struct rule rules[16];
};

/* What the lists of one program say. */
struct policy {
	unsigned n_calls;
	struct call calls[NR_MAX];
	uint32_t fallback; /* for what no list names; PASS in a fragment */
};

#define CHAIN_MAX 8

/* Policies that are asked one after the other: what one of them allows, or says nothing about, is the next
 * one's to answer. A program of one policy is the shortest. */
struct chain {
	unsigned n;
	const struct policy *policies[CHAIN_MAX];
};

/* What each policy of a chain says about one number; NULL: it does not name it. */
struct pick {
	const struct call *calls[CHAIN_MAX];
};

struct arch {
	const char *name; /* meson's cpu family, the word in 'name=ARCH:NR' */
	uint32_t scmp;
	uint32_t audit;
	const char *sister; /* runs on the same kernel */
};

struct code {
	unsigned n;
	struct sock_filter insns[BPF_MAXINSNS];
};

/* Prints where (when a list is being read) and what, and ends the program. */
__attribute__((format(printf, 1, 2), noreturn)) void die(const char *fmt, ...);
void die_at(const char *file, unsigned line); /* sets where; NULL: nowhere */

const struct arch *find_arch(const char *name);

/* The call's number on this arch, -1 when it has none there. */
int64_t call_nr(const struct call *c, const struct arch *arch);

/* Adds what the list at 'path' says; 'list' counts the lists of one policy from 1. */
void read_list(struct policy *p, const char *path, unsigned list);

/* An answer that leads on to the next policy of a chain. */
bool leads_on(uint32_t action);
/* The answer at the end of a chain: PASS, where it is of fragments alone. */
uint32_t last_answer(const struct chain *chain);

void emit_program(struct code *ret_code, const struct chain *chain, const struct arch *arch);

/* Ends with a message when the program is not what the policies say. */
void check_program(const struct code *code, const struct chain *chain, const struct arch *arch);

/* The policy as a container runtime reads it: a C string 'seccomp_json_NAME'. */
void print_json(FILE *f, const char *name, const struct policy *p, const struct arch *arch);
