/* SPDX-License-Identifier: MIT */
/*
 * seccomp-gen: turns the lists of data/seccomp into BPF programs, at build time.
 *
 *     seccomp-gen ARCH OUT.c --filter=NAME LIST... --fragment=NAME LIST... --weak=NAME LIST...
 *                            --told=NAME LIST... --json=NAME LIST... --whole=NAME NAME...
 *
 * ARCH is meson's cpu family; its 32-bit sister gets a table of its own in the same program. A
 * filter is a whole program, loaded by itself; a fragment asks the supervisor about a few calls and
 * falls off its end otherwise, and the loader strings fragments together. The output is one C file
 * that defines a 'struct seccomp_program seccomp_NAME' for each. JSON is the same lists for container
 * runtimes (seccomp-json.c), as the text 'seccomp_json_NAME'.
 *
 * An errno outranks a question, so that a refusal which is to be told of is cut in two: of the lists of
 * a filter 'told' is the fragment that asks about what they refuse, but for ENOSYS, and 'weak' the
 * filter that leaves just this to the fragment. Together they refuse what the filter does.
 *
 * A whole is a filter and fragments, made before it and given by their names, as one program with one
 * search: what the loader would string together, but shorter, and quicker to load.
 *
 * libseccomp gives the numbers only. Its own code generator cannot say 'every other value of this
 * argument' (it refuses two tests of one argument in a rule), and for i386 it turns a rule about
 * socket() into one that also opens socketcall(), whose arguments no filter can see. The program is
 * made in seccomp-emit.c instead, and checked in seccomp-check.c before it is written.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>

#include "seccomp-gen.h"

#define ARM_PRIVATE 0x0f0000u /* 32-bit arm has calls of its own from here */
#define ARM_PRIVATE_MAX 16u

static const struct arch archs[] = {
	{ "x86_64", SCMP_ARCH_X86_64, AUDIT_ARCH_X86_64, "x86" },
	{ "x86", SCMP_ARCH_X86, AUDIT_ARCH_I386, NULL },
	{ "aarch64", SCMP_ARCH_AARCH64, AUDIT_ARCH_AARCH64, "arm" },
	{ "arm", SCMP_ARCH_ARM, AUDIT_ARCH_ARM, NULL },
};

static const char *at_file;
static unsigned at_line;

void die_at(const char *file, unsigned line)
{
	at_file = file;
	at_line = line;
}

void die(const char *fmt, ...)
{
	va_list ap;

	fputs("seccomp-gen: ", stderr);
	if (at_file)
		fprintf(stderr, "%s:%u: ", at_file, at_line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(EXIT_FAILURE);
}

const struct arch *find_arch(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(archs); i++)
		if (strcmp(archs[i].name, name) == 0)
			return &archs[i];
	die("no system call tables for '%s'", name);
}

/*
 * libseccomp's number for the name, -1 when the arch has no such call. Found by asking for the name
 * of every number: the other way round, i386 gives pseudo numbers for sockets and System V queues.
 */
static int64_t library_nr(const struct arch *arch, const char *name)
{
	static char *names[ARRAY_LEN(archs)][NR_MAX + ARM_PRIVATE_MAX];
	char **table = names[arch - archs];

	for (unsigned i = 0; i < NR_MAX + ARM_PRIVATE_MAX; i++) {
		unsigned nr = i < NR_MAX ? i : ARM_PRIVATE + (i - NR_MAX);

		if (!table[i])
			table[i] = seccomp_syscall_resolve_num_arch(arch->scmp, (int)nr);
		if (!table[i])
			table[i] = strdup("");
		if (table[i] && strcmp(table[i], name) == 0)
			return nr;
	}
	return -1;
}

int64_t call_nr(const struct call *c, const struct arch *arch)
{
	int64_t nr = library_nr(arch, c->name);
	bool given = c->nr >= 0 && (!*c->nr_arch || strcmp(c->nr_arch, arch->name) == 0);

	if (nr >= 0) {
		if (given && nr != c->nr)
			die("'%s' is %lld on %s, the list says %lld", c->name, (long long)nr,
			    arch->name, (long long)c->nr);
		return nr;
	}
	if (c->nr >= 0)
		return given ? c->nr : -1;
	if (!c->optional &&
	    seccomp_syscall_resolve_name_arch(arch->scmp, c->name) == __NR_SCMP_ERROR)
		die("unknown call '%s': give its number or mark it '?'", c->name);
	return -1;
}

/* A filter answers by itself; a fragment only ever asks the supervisor. */
static void check_kind(const struct policy *p, const char *kind, const char *name)
{
	bool fragment = strcmp(kind, "fragment") == 0;

	if (!fragment && strcmp(kind, "filter") != 0)
		die("unknown kind '%s'", kind);
	if (fragment != (p->fallback == PASS))
		die("%s '%s' %s a default", kind, name, fragment ? "must not have" : "needs");
	for (unsigned i = 0; i < p->n_calls; i++)
		for (unsigned j = 0; j < p->calls[i].n_rules; j++)
			if (fragment != (p->calls[i].rules[j].action == SECCOMP_RET_USER_NOTIF))
				die("'%s' in %s '%s': 'notify' is for fragments, the rest for "
				    "filters",
				    p->calls[i].name, kind, name);
}

static bool is_told(uint32_t action)
{
	return (action & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO &&
	       action != (SECCOMP_RET_ERRNO | ENOSYS);
}

/* Rules that come to one answer are one. */
static void join_rules(struct call *c)
{
	for (unsigned i = 1; i < c->n_rules; i++)
		if (c->rules[i].action != c->rules[0].action)
			return;
	c->n_rules = 1;
	c->rules[0].n_tests = 0;
}

/* Leaves out what is told; or, of a fragment, all but that. */
static void cut_policy(struct policy *p, bool told)
{
	unsigned n = 0;

	for (unsigned i = 0; i < p->n_calls; i++) {
		struct call *c = &p->calls[i];
		bool any = false;

		for (unsigned j = 0; j < c->n_rules; j++) {
			uint32_t *action = &c->rules[j].action;
			bool is = is_told(*action);

			any |= is;
			if (told)
				*action = is ? SECCOMP_RET_USER_NOTIF : PASS;
			else if (is)
				*action = SECCOMP_RET_ALLOW;
		}
		join_rules(c);
		if (!told || any)
			p->calls[n++] = *c;
	}
	p->n_calls = n;
	if (told)
		p->fallback = PASS;
}

/* Which numbers a fragment asks about, so that the supervisor's table cannot differ from it. */
static void print_calls(FILE *f, const char *name, const struct policy *p, const struct arch *arch)
{
	const struct arch *both[] = { arch, arch->sister ? find_arch(arch->sister) : NULL };

	fprintf(f, "\nstatic const struct seccomp_call %s_calls[] = {\n", name);
	for (unsigned a = 0; a < ARRAY_LEN(both); a++)
		for (unsigned i = 0; both[a] && i < p->n_calls; i++) {
			int64_t nr = call_nr(&p->calls[i], both[a]);

			if (nr >= 0)
				fprintf(f, "\t{ \"%s\", 0x%x, %lld },\n", p->calls[i].name,
					both[a]->audit, (long long)nr);
		}
	fputs("\t{ NULL, 0, 0 },\n};\n", f);
}

static void print_program(FILE *f, const char *name, const struct code *code, bool has_calls)
{
	fprintf(f, "\nstatic const struct sock_filter %s_insns[] = {\n", name);
	for (unsigned i = 0; i < code->n; i++)
		fprintf(f, "\t{ 0x%02x, %u, %u, 0x%x },\n", code->insns[i].code, code->insns[i].jt,
			code->insns[i].jf, code->insns[i].k);
	fprintf(f, "};\n\nconst struct seccomp_program seccomp_%s = { %s_insns, %u, %s%s };\n",
		name, name, code->n, has_calls ? name : "NULL", has_calls ? "_calls" : "");
}

/* What programs were made of, for those that are made of them. */
static struct made {
	const struct made *before;
	const char *name;
	struct policy policy;
} * made;

static struct policy *new_policy(const char *name)
{
	struct made *one = calloc(1, sizeof(*one));

	if (!one)
		die("out of memory");
	one->before = made;
	one->name = name;
	one->policy.fallback = PASS;
	made = one;
	return &one->policy;
}

static const struct policy *find_policy(const char *name)
{
	const struct made *one = made;

	while (one && strcmp(one->name, name) != 0)
		one = one->before;
	if (!one)
		die("no program '%s' was made before", name);
	return &one->policy;
}

static void print_chain(FILE *f, const char *name, const struct chain *chain,
			const struct arch *arch)
{
	static struct code code;
	bool fragment = last_answer(chain) == PASS;

	emit_program(&code, chain, arch);
	check_program(&code, chain, arch);
	if (fragment)
		print_calls(f, name, chain->policies[0], arch);
	print_program(f, name, &code, fragment);
}

/* A filter and then fragments. */
static int make_whole(FILE *f, const struct arch *arch, const char *name, char **names)
{
	struct chain chain = { 0 };

	while (names[chain.n] && strncmp(names[chain.n], "--", 2) != 0) {
		const struct policy *p = find_policy(names[chain.n]);

		if (chain.n == CHAIN_MAX || (chain.n == 0) == (p->fallback == PASS))
			die("'%s' is no part of a whole there", names[chain.n]);
		chain.policies[chain.n++] = p;
	}
	if (chain.n == 0)
		die("'%s': wanted a filter and fragments", name);
	print_chain(f, name, &chain, arch);
	return (int)chain.n;
}

/* One program of what follows its option; returns how many words that was. */
static int make_program(FILE *f, const struct arch *arch, char **argv)
{
	char *name = strchr(argv[0], '=');
	const char *kind = argv[0] + 2;
	bool told, weak, json;
	struct policy *policy;
	int n = 0;

	if (strncmp(argv[0], "--", 2) != 0 || !name)
		die("'%s': wanted --filter=NAME, --fragment=NAME, --weak=NAME, --told=NAME, "
		    "--json=NAME, --weak-json=NAME or --whole=NAME",
		    argv[0]);
	*name++ = '\0';
	if (strcmp(kind, "whole") == 0)
		return make_whole(f, arch, name, argv + 1);
	told = strcmp(kind, "told") == 0;
	weak = strncmp(kind, "weak", 4) == 0;
	json = strcmp(kind, "json") == 0 || strcmp(kind, "weak-json") == 0;
	policy = new_policy(json ? "" : name);
	while (argv[n + 1] && strncmp(argv[n + 1], "--", 2) != 0) {
		n++;
		read_list(policy, argv[n], (unsigned)n);
	}
	check_kind(policy, told || weak || json ? "filter" : kind, name);
	if (told || weak)
		cut_policy(policy, told);
	if (json)
		print_json(f, name, policy, arch);
	else
		print_chain(f, name, &(struct chain){ 1, { policy } }, arch);
	return n;
}

int main(int argc, char **argv)
{
	const struct arch *arch;
	FILE *f;

	if (argc < 4)
		die("usage: seccomp-gen ARCH OUT.c --filter=NAME LIST... --fragment=NAME LIST...");
	arch = find_arch(argv[1]);
	f = fopen(argv[2], "we");
	if (!f)
		die("%s: %s", argv[2], strerror(errno));
	fputs("/* Made by seccomp-gen from data/seccomp; changes are lost. */\n"
	      "#include <linux/filter.h>\n\n#include \"os/linux/seccomp.h\"\n",
	      f);
	for (int i = 3; i < argc; i++)
		i += make_program(f, arch, &argv[i]);
	if (fclose(f) != 0)
		die("%s: %s", argv[2], strerror(errno));
	return EXIT_SUCCESS;
}
