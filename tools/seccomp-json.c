/* SPDX-License-Identifier: MIT */
/*
 * A policy as JSON for container runtimes, by names. libseccomp, on which these stand, cannot say all
 * that the lists say about arguments, so that a call which is allowed with some arguments is allowed
 * here: wrapix-init loads the exact program on top.
 */
#include <string.h>

#include <linux/seccomp.h>

#include "seccomp-gen.h"

/* What the call gets at best. */
static uint32_t best_action(const struct call *c)
{
	for (unsigned i = 0; i < c->n_rules; i++)
		if (c->rules[i].action == SECCOMP_RET_ALLOW)
			return SECCOMP_RET_ALLOW;
	return c->rules[c->n_rules - 1].action;
}

static const char *arch_name(const char *name)
{
	static const char *const names[][2] = {
		{ "x86_64", "SCMP_ARCH_X86_64" },
		{ "x86", "SCMP_ARCH_X86" },
		{ "aarch64", "SCMP_ARCH_AARCH64" },
		{ "arm", "SCMP_ARCH_ARM" },
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(names[i][0], name) == 0)
			return names[i][1];
	die("no runtime's name for '%s'", name);
}

static bool has_action(const struct policy *p, uint32_t action)
{
	for (unsigned i = 0; i < p->n_calls; i++)
		if (best_action(&p->calls[i]) == action)
			return true;
	return false;
}

/* The calls with this answer, as one entry. */
static void print_entry(FILE *f, const struct policy *p, uint32_t action, bool first)
{
	bool first_name = true;

	fprintf(f, "\t\"%s{\\\"names\\\":[\"\n", first ? "" : ",");
	for (unsigned i = 0; i < p->n_calls; i++) {
		if (best_action(&p->calls[i]) != action)
			continue;
		fprintf(f, "\t\"%s\\\"%s\\\"\"\n", first_name ? "" : ",", p->calls[i].name);
		first_name = false;
	}
	if (action == SECCOMP_RET_ALLOW)
		fputs("\t\"],\\\"action\\\":\\\"SCMP_ACT_ALLOW\\\"}\"\n", f);
	else
		fprintf(f, "\t\"],\\\"action\\\":\\\"SCMP_ACT_ERRNO\\\",\\\"errnoRet\\\":%u}\"\n",
			action & SECCOMP_RET_DATA);
}

void print_json(FILE *f, const char *name, const struct policy *p, const struct arch *arch)
{
	bool first = true;

	fprintf(f,
		"\nconst char seccomp_json_%s[] =\n"
		"\t\"{\\\"defaultAction\\\":\\\"SCMP_ACT_ERRNO\\\",\\\"defaultErrnoRet\\\":%u,\"\n"
		"\t\"\\\"architectures\\\":[\\\"%s\\\"",
		name, p->fallback & SECCOMP_RET_DATA, arch_name(arch->name));
	if (arch->sister)
		fprintf(f, ",\\\"%s\\\"", arch_name(arch->sister));
	fputs("],\\\"syscalls\\\":[\"\n", f);
	for (uint32_t code = 0; code < 256; code++) {
		uint32_t action = code ? SECCOMP_RET_ERRNO | code : SECCOMP_RET_ALLOW;

		if (!has_action(p, action))
			continue;
		print_entry(f, p, action, first);
		first = false;
	}
	fputs("\t\"]}\";\n", f);
}
