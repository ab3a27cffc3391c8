/* SPDX-License-Identifier: MIT */
/*
 * A policy as BPF. The kernel takes about 0.12 us to load a comparison and 0.2 us to load a return,
 * at every start of a sandbox, so that the program is made to be short:
 *
 * - numbers are put in order, and neighbours with equal answers are joined into runs; a lone number
 *   that is different becomes an exception of the run around it; then comes a binary search, one for all
 *   policies of a chain: the kernel tries every number when it loads a program, so the way counts as well;
 * - the program is written backwards, from its end: what a jump leads to is there before the jump,
 *   and every return, and the rules of a call that depends on its arguments, stand there once for
 *   both archs. A conditional jump reaches over 255 instructions; what lies farther away is
 *   repeated (a return) or reached through a plain jump.
 *
 *     arch = ours?     no -> next arch; after the last: kill, or fall off (a fragment)
 *     number >= mid?   ... exceptions -> return, or rules: load argument, compare, return
 *
 * It holds loads of the arch and the number, comparisons and returns alone until a call's rules
 * begin: that is what lets the kernel find out which calls are always allowed, and remember them.
 */
#include <stdlib.h>
#include <string.h>

#include <linux/seccomp.h>

#include "seccomp-gen.h"

#define REACH 250 /* of 255: room for what is put between a target and its jump */

#define LD_ABS (BPF_LD | BPF_W | BPF_ABS)
#define RET (BPF_RET | BPF_K)
#define JA (BPF_JMP | BPF_JA)
#define JEQ (BPF_JMP | BPF_JEQ | BPF_K)
#define JGE (BPF_JMP | BPF_JGE | BPF_K)
#define JSET (BPF_JMP | BPF_JSET | BPF_K)

/* The low half of an argument, on the little-endian machines that we know. */
#define ARG_LOW(n) ((uint32_t)(offsetof(struct seccomp_data, args) + sizeof(uint64_t) * (n)))
#define ARG_HIGH(n) (ARG_LOW(n) + (uint32_t)sizeof(uint32_t))

#define DEPENDS (PASS - 1) /* no answer: it is one of the arguments' */

/* Numbers with one answer, but for a few; a run ends where the next begins. */
struct run {
	uint32_t start;
	unsigned pick;
	unsigned n_odd;
	struct {
		uint32_t nr;
		unsigned pick;
	} odd[3];
};

struct emitter {
	const struct chain *chain;
	unsigned n_picks; /* the first of them names nothing */
	struct pick picks[2 * NR_MAX];
	unsigned entry[2 * NR_MAX]; /* where the rules of a pick begin; 0: not there yet */
	unsigned n_runs;
	struct run runs[2 * NR_MAX + 1];
	unsigned n;
	struct sock_filter back[BPF_MAXINSNS]; /* back[0] is the last instruction */
};

/* ------------------------------------------------------------------ runs */

bool leads_on(uint32_t action)
{
	return action == SECCOMP_RET_ALLOW || action == PASS;
}

uint32_t last_answer(const struct chain *chain)
{
	return chain->policies[0]->fallback == PASS ? PASS : SECCOMP_RET_ALLOW;
}

/* The answer, where it is the same whatever the arguments are. */
static uint32_t constant(const struct emitter *e, unsigned pick)
{
	for (unsigned i = 0; i < e->chain->n; i++) {
		const struct call *c = e->picks[pick].calls[i];
		uint32_t action = c ? c->rules[0].action : e->chain->policies[i]->fallback;

		if (c && c->rules[0].n_tests)
			return DEPENDS;
		if (!leads_on(action))
			return action;
	}
	return last_answer(e->chain);
}

static bool same_answer(const struct emitter *e, unsigned a, unsigned b)
{
	uint32_t answer = constant(e, a);

	return a == b || (answer != DEPENDS && answer == constant(e, b));
}

static void add_run(struct emitter *e, uint32_t start, unsigned pick)
{
	if (e->n_runs > 0 && same_answer(e, e->runs[e->n_runs - 1].pick, pick))
		return;
	e->runs[e->n_runs++] = (struct run){ .start = start, .pick = pick };
}

/* A run of one number between two with the same answer becomes an exception of these. */
static void join_runs(struct emitter *e)
{
	unsigned n = 0;

	for (unsigned i = 0; i < e->n_runs; i++) {
		struct run *r = &e->runs[n++];

		*r = e->runs[i];
		while (i + 2 < e->n_runs && r->n_odd < ARRAY_LEN(r->odd) &&
		       e->runs[i + 2].start - e->runs[i + 1].start == 1 &&
		       same_answer(e, r->pick, e->runs[i + 2].pick)) {
			r->odd[r->n_odd].nr = e->runs[i + 1].start;
			r->odd[r->n_odd].pick = e->runs[i + 1].pick;
			r->n_odd++;
			i += 2;
		}
	}
	e->n_runs = n;
}

/* One that says the same, or a new one. */
static unsigned add_pick(struct emitter *e, const struct pick *pick)
{
	for (unsigned i = 0; i < e->n_picks; i++)
		if (memcmp(&e->picks[i], pick, sizeof(*pick)) == 0)
			return i;
	if (e->n_picks == ARRAY_LEN(e->picks))
		die("too many calls");
	e->picks[e->n_picks] = *pick;
	return e->n_picks++;
}

/* A number that some policy names. */
struct named {
	uint32_t nr;
	struct pick pick;
};

static int by_number(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

/* Every number that is named, in order, with what all policies say about it. */
static unsigned collect(const struct chain *chain, const struct arch *arch, struct named *named)
{
	unsigned n = 0;

	for (unsigned k = 0; k < chain->n; k++)
		for (unsigned i = 0; i < chain->policies[k]->n_calls; i++) {
			const struct call *c = &chain->policies[k]->calls[i];
			int64_t nr = call_nr(c, arch);
			unsigned at = 0;

			if (nr < 0)
				continue;
			while (at < n && named[at].nr != nr)
				at++;
			if (at == n)
				named[n++] = (struct named){ .nr = (uint32_t)nr };
			if (named[at].pick.calls[k])
				die("'%s' and '%s' are one call on %s",
				    named[at].pick.calls[k]->name, c->name, arch->name);
			named[at].pick.calls[k] = c;
		}
	qsort(named, n, sizeof(*named), by_number);
	return n;
}

/* Every number from 0 to 2^32-1 is in exactly one run. */
static void make_runs(struct emitter *e, const struct arch *arch)
{
	static struct named own[CHAIN_MAX * NR_MAX];
	unsigned n = collect(e->chain, arch, own);

	e->n_runs = 0;
	if (n == 0 || own[0].nr > 0)
		add_run(e, 0, 0);
	for (unsigned i = 0; i < n; i++) {
		uint32_t after = own[i].nr + 1; /* 0 after the last number of all */

		add_run(e, own[i].nr, add_pick(e, &own[i].pick));
		if (after != 0 && (i + 1 == n || own[i + 1].nr != after))
			add_run(e, after, 0);
	}
	join_runs(e);
}

/* ------------------------------------------------------------------ instructions, backwards */

/* A place in 'back'. The instruction that is put next comes right before back[n - 1]. */
static unsigned put(struct emitter *e, unsigned op, uint32_t k, unsigned jt, unsigned jf)
{
	if (e->n == BPF_MAXINSNS)
		die("the program is too long");
	if (jt > UINT8_MAX || jf > UINT8_MAX)
		die("a jump is too far");
	e->back[e->n] = (struct sock_filter){ (uint16_t)op, (uint8_t)jt, (uint8_t)jf, k };
	return e->n++;
}

/* The place, or one that does the same and is near enough for a condition. */
static unsigned near(struct emitter *e, unsigned at)
{
	if (e->n - at <= REACH)
		return at;
	if (e->back[at].code == RET)
		return put(e, RET, e->back[at].k, 0, 0);
	return put(e, JA, e->n - at - 1, 0, 0);
}

static unsigned jump(struct emitter *e, unsigned op, uint32_t k, unsigned yes, unsigned no)
{
	if (yes == no)
		return yes;
	yes = near(e, yes);
	no = near(e, no);
	return put(e, op, k, e->n - yes - 1, e->n - no - 1);
}

/* Loads a word, then goes on at the place. */
static unsigned load(struct emitter *e, size_t offset, unsigned at)
{
	if (at != e->n - 1)
		put(e, JA, e->n - at - 1, 0, 0);
	return put(e, LD_ABS, (uint32_t)offset, 0, 0);
}

/* In a fragment, back[0] stands for whatever follows it. */
static unsigned answer(struct emitter *e, uint32_t action)
{
	if (action == PASS)
		return 0;
	for (unsigned i = e->n; i-- > 0 && e->n - i <= REACH;)
		if (e->back[i].code == RET && e->back[i].k == action)
			return i;
	return put(e, RET, action, 0, 0);
}

static unsigned emit_test(struct emitter *e, const struct test *t, unsigned yes, unsigned no)
{
	unsigned op = t->op == OP_HAS ? JSET : JEQ, at;
	bool flip = t->op == OP_NOT;

	if (t->op == OP_LEAST) {
		at = load(e, ARG_LOW(t->arg), jump(e, JGE, t->v[0], yes, no));
		return load(e, ARG_HIGH(t->arg), jump(e, JEQ, 0, at, yes));
	}
	at = flip ? yes : no;
	for (unsigned i = t->n; i-- > 0;)
		at = jump(e, op, t->v[i], flip ? no : yes, at);
	return load(e, ARG_LOW(t->arg), at);
}

/* What one policy says about a call; 'next' is the next one's answer. */
static unsigned emit_rules(struct emitter *e, const struct policy *p, const struct call *c,
			   unsigned next)
{
	unsigned at = next;

	if (!c)
		return leads_on(p->fallback) ? next : answer(e, p->fallback);
	if (c->rules[c->n_rules - 1].n_tests > 0 && p->fallback != PASS)
		die("'%s' needs a last line without tests", c->name);
	for (unsigned i = c->n_rules; i-- > 0;) {
		const struct rule *r = &c->rules[i];
		unsigned no = at;

		at = leads_on(r->action) ? next : answer(e, r->action);
		for (unsigned j = r->n_tests; j-- > 0;)
			at = emit_test(e, &r->tests[j], at, no);
	}
	return at;
}

/* An answer or, where it depends on arguments, the rules of all policies; they are put once. */
static unsigned emit_pick(struct emitter *e, unsigned pick)
{
	uint32_t action = constant(e, pick);
	unsigned at;

	if (action != DEPENDS)
		return answer(e, action);
	if (e->entry[pick])
		return e->entry[pick];
	at = answer(e, last_answer(e->chain));
	for (unsigned i = e->chain->n; i-- > 0;)
		at = emit_rules(e, e->chain->policies[i], e->picks[pick].calls[i], at);
	return e->entry[pick] = at;
}

/* Over the runs from 'lo' up to and without 'hi'; the number is in the accumulator. */
static unsigned emit_search(struct emitter *e, unsigned lo, unsigned hi)
{
	unsigned mid = lo + (hi - lo) / 2, at;
	const struct run *r = &e->runs[lo];

	if (hi - lo > 1) {
		at = emit_search(e, mid, hi);
		return jump(e, JGE, e->runs[mid].start, at, emit_search(e, lo, mid));
	}
	at = emit_pick(e, r->pick);
	for (unsigned i = r->n_odd; i-- > 0;)
		at = jump(e, JEQ, r->odd[i].nr, emit_pick(e, r->odd[i].pick), at);
	return at;
}

static unsigned emit_arch(struct emitter *e, const struct arch *arch)
{
	make_runs(e, arch);
	return load(e, offsetof(struct seccomp_data, nr), emit_search(e, 0, e->n_runs));
}

void emit_program(struct code *ret_code, const struct chain *chain, const struct arch *arch)
{
	static struct emitter e;
	const struct arch *sister = arch->sister ? find_arch(arch->sister) : NULL;
	bool fragment = last_answer(chain) == PASS;
	unsigned other, end = fragment ? 1 : 0, at;

	memset(&e, 0, sizeof(e));
	e.chain = chain;
	e.n_picks = 1;
	e.n = end;
	/* The numbers of another arch mean other calls, and none can be judged. */
	other = fragment ? 0 : answer(&e, SECCOMP_RET_KILL_PROCESS);
	if (sister)
		other = jump(&e, JEQ, sister->audit, emit_arch(&e, sister), other);
	at = emit_arch(&e, arch);
	at = jump(&e, JEQ, arch->audit, at, other);
	load(&e, offsetof(struct seccomp_data, arch), at);
	ret_code->n = e.n - end;
	for (unsigned i = 0; i < ret_code->n; i++)
		ret_code->insns[i] = e.back[e.n - 1 - i];
}
