/* SPDX-License-Identifier: MIT */
/*
 * Checks a program against the policies it was made from, each time one is made: runs the
 * instructions over every number that a call could have on every arch, and for calls that depend on
 * arguments over all mixes of the values that their rules name and of values beside them, with and
 * without bits above the low 32. The expected answer comes from reading the rules one by one.
 */
#include <linux/audit.h>

#include "bpf.h"
#include "seccomp-gen.h"

#define MAX_VALUES 128
#define NR_X32 0x40000000u
#define ARCH_ALIEN AUDIT_ARCH_S390X

struct values {
	unsigned n;
	uint32_t v[MAX_VALUES];
};

static uint32_t run(const struct code *code, const struct seccomp_data *d)
{
	uint32_t answer = 0;

	switch (bpf_run(code->insns, code->n, d, sizeof(*d), &answer)) {
	case BPF_RETURNED:
		return answer;
	case BPF_FELL_OFF:
		return PASS;
	case BPF_READ_BEYOND:
		die("the program reads outside of its data");
	default:
		die("the program has an instruction 0x%x", answer);
	}
}

static bool test_holds(const struct test *t, const struct seccomp_data *d)
{
	uint32_t low = (uint32_t)d->args[t->arg];
	bool found = false;

	if (t->op == OP_LEAST)
		return d->args[t->arg] >= t->v[0];
	for (unsigned i = 0; i < t->n; i++)
		found |= t->op == OP_HAS ? (low & t->v[i]) != 0 : low == t->v[i];
	return t->op == OP_NOT ? !found : found;
}

static uint32_t judge_one(const struct policy *p, const struct call *c,
			  const struct seccomp_data *d)
{
	for (unsigned i = 0; c && i < c->n_rules; i++) {
		const struct rule *r = &c->rules[i];
		bool fits = true;

		for (unsigned j = 0; j < r->n_tests; j++)
			fits &= test_holds(&r->tests[j], d);
		if (fits)
			return r->action;
	}
	return c ? PASS : p->fallback;
}

static uint32_t judge(const struct chain *chain, const struct pick *pick,
		      const struct seccomp_data *d)
{
	for (unsigned i = 0; i < chain->n; i++) {
		uint32_t action = judge_one(chain->policies[i], pick->calls[i], d);

		if (!leads_on(action))
			return action;
	}
	return last_answer(chain);
}

static void compare(const struct code *code, const struct chain *chain, const struct pick *pick,
		    const struct seccomp_data *d)
{
	uint32_t got = run(code, d), want = judge(chain, pick, d);

	if (got != want)
		die("wrong program: arch %x call %u(%llx, %llx, %llx): 0x%x instead of 0x%x",
		    d->arch, (unsigned)d->nr, d->args[0], d->args[1], d->args[2], got, want);
}

static void add_value(struct values *s, uint32_t v)
{
	if (s->n == MAX_VALUES)
		die("too many values to check");
	s->v[s->n++] = v;
}

static void collect_test(const struct call *c, const struct test *t, unsigned arg, struct values *s,
			 bool *bits)
{
	if (t->arg > 2 && t->arg != 5)
		die("'%s': arguments 3 and 4 are not checked", c->name);
	*bits |= t->arg == arg && t->op == OP_HAS;
	for (unsigned k = 0; t->arg == arg && k < t->n; k++) {
		add_value(s, t->v[k] - 1);
		add_value(s, t->v[k]);
		add_value(s, t->v[k] + 1);
	}
}

/* What to try for an argument: every value that a rule names, its neighbours, single bits. Returns whether
 * any rule looks at arguments at all. */
static bool collect_values(const struct pick *pick, unsigned arg, struct values *s)
{
	bool bits = false, any = false;

	s->n = 0;
	add_value(s, 0);
	add_value(s, UINT32_MAX);
	for (unsigned k = 0; k < CHAIN_MAX; k++) {
		const struct call *c = pick->calls[k];

		for (unsigned i = 0; c && i < c->n_rules; i++) {
			any |= c->rules[i].n_tests > 0;
			for (unsigned j = 0; j < c->rules[i].n_tests; j++)
				collect_test(c, &c->rules[i].tests[j], arg, s, &bits);
		}
	}
	for (unsigned b = 0; bits && b < 32; b++)
		add_value(s, 1u << b);
	return any;
}

/* With each value of the last argument, and with something above its 32 bits. */
static void check_last(const struct code *code, const struct chain *chain, const struct pick *pick,
		       struct seccomp_data d, const struct values *last)
{
	for (unsigned i = 0; i < last->n; i++) {
		struct seccomp_data high = d;

		d.args[5] = high.args[5] = last->v[i];
		compare(code, chain, pick, &d);
		for (unsigned arg = 0; arg < 6; arg++)
			high.args[arg] |= 0xdeadbeefULL << 32;
		compare(code, chain, pick, &high);
	}
}

static void check_call(const struct code *code, const struct chain *chain, const struct pick *pick,
		       struct seccomp_data d)
{
	static struct values s[6];
	bool any = false;

	compare(code, chain, pick, &d);
	for (unsigned arg = 0; arg < 6; arg++)
		any |= collect_values(pick, arg, &s[arg]);
	if (!any)
		return;
	for (unsigned i = 0; i < s[0].n; i++) {
		for (unsigned j = 0; j < s[1].n; j++) {
			for (unsigned k = 0; k < s[2].n; k++) {
				d.args[0] = s[0].v[i];
				d.args[1] = s[1].v[j];
				d.args[2] = s[2].v[k];
				check_last(code, chain, pick, d, &s[5]);
			}
		}
	}
}

static void check_arch(const struct code *code, const struct chain *chain, const struct arch *arch)
{
	static const uint32_t starts[] = {
		0, 0x0f0000, NR_X32, 0x7fffff00, 0x80000000, 0xfffff000
	};
	static int64_t nrs[CHAIN_MAX][NR_MAX];

	for (unsigned k = 0; k < chain->n; k++)
		for (unsigned i = 0; i < chain->policies[k]->n_calls; i++)
			nrs[k][i] = call_nr(&chain->policies[k]->calls[i], arch);
	for (unsigned s = 0; s < ARRAY_LEN(starts); s++) {
		for (uint32_t n = 0; n < 4 * NR_MAX; n++) {
			uint32_t nr = starts[s] + n;
			struct seccomp_data d = { .nr = (int)nr, .arch = arch->audit };
			struct pick pick = { 0 };

			for (unsigned k = 0; k < chain->n; k++)
				for (unsigned i = 0; i < chain->policies[k]->n_calls; i++)
					if (nrs[k][i] == nr)
						pick.calls[k] = &chain->policies[k]->calls[i];
			check_call(code, chain, &pick, d);
		}
	}
}

void check_program(const struct code *code, const struct chain *chain, const struct arch *arch)
{
	struct seccomp_data alien = { .arch = ARCH_ALIEN };

	check_arch(code, chain, arch);
	if (arch->sister)
		check_arch(code, chain, find_arch(arch->sister));
	if (run(code, &alien) != (last_answer(chain) == PASS ? PASS : SECCOMP_RET_KILL_PROCESS))
		die("wrong program: another arch is not refused");
}
