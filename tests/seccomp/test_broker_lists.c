/* SPDX-License-Identifier: MIT */
/*
 * Which calls the broker is asked about: on all four archs, by numbers written out, so that a call
 * missing from a list shows. What changes a file must ask; what reads must cost nothing.
 */
#include <linux/filter.h>
#include <fcntl.h>

#include <linux/audit.h>

#include "bpf.h"
#include "lib/tap.h"

#define ALLOW SECCOMP_RET_ALLOW
#define NOTIFY SECCOMP_RET_USER_NOTIF
#define HIGH 0xdeadbeef00000000ULL
#define NONE UINT32_MAX

extern const struct seccomp_program seccomp_x86_files, seccomp_x86_reads;
extern const struct seccomp_program seccomp_arm_files, seccomp_arm_reads;

enum { X86_64, I386, AARCH64, ARM, N_ARCHS };

static const struct {
	const char *name;
	uint32_t audit;
	const struct seccomp_program *files, *reads;
} archs[N_ARCHS] = {
	[X86_64] = { "x86_64", AUDIT_ARCH_X86_64, &seccomp_x86_files, &seccomp_x86_reads },
	[I386] = { "i386", AUDIT_ARCH_I386, &seccomp_x86_files, &seccomp_x86_reads },
	[AARCH64] = { "aarch64", AUDIT_ARCH_AARCH64, &seccomp_arm_files, &seccomp_arm_reads },
	[ARM] = { "arm", AUDIT_ARCH_ARM, &seccomp_arm_files, &seccomp_arm_reads },
};

/* Whatever their arguments. */
static const struct {
	const char *name;
	uint32_t nr[N_ARCHS];
	uint32_t answer;
} calls[] = {
	{ "creat", { 85, 8, NONE, 8 }, NOTIFY },
	{ "openat2", { 437, 437, 437, 437 }, NOTIFY },
	{ "mkdir", { 83, 39, NONE, 39 }, NOTIFY },
	{ "mkdirat", { 258, 296, 34, 323 }, NOTIFY },
	{ "mknod", { 133, 14, NONE, 14 }, NOTIFY },
	{ "mknodat", { 259, 297, 33, 324 }, NOTIFY },
	{ "symlink", { 88, 83, NONE, 83 }, NOTIFY },
	{ "symlinkat", { 266, 304, 36, 331 }, NOTIFY },
	{ "link", { 86, 9, NONE, 9 }, NOTIFY },
	{ "linkat", { 265, 303, 37, 330 }, NOTIFY },
	{ "rename", { 82, 38, NONE, 38 }, NOTIFY },
	{ "renameat", { 264, 302, 38, 329 }, NOTIFY },
	{ "renameat2", { 316, 353, 276, 382 }, NOTIFY },
	{ "unlink", { 87, 10, NONE, 10 }, NOTIFY },
	{ "unlinkat", { 263, 301, 35, 328 }, NOTIFY },
	{ "rmdir", { 84, 40, NONE, 40 }, NOTIFY },
	{ "bind", { 49, 361, 200, 282 }, NOTIFY },
	{ "truncate", { 76, 92, 45, 92 }, NOTIFY },
	{ "truncate64", { NONE, 193, NONE, 193 }, NOTIFY },
	{ "chmod", { 90, 15, NONE, 15 }, NOTIFY },
	{ "fchmod", { 91, 94, 52, 94 }, NOTIFY },
	{ "fchmodat", { 268, 306, 53, 333 }, NOTIFY },
	{ "fchmodat2", { 452, 452, 452, 452 }, NOTIFY },
	{ "chown", { 92, 182, NONE, 182 }, NOTIFY },
	{ "chown32", { NONE, 212, NONE, 212 }, NOTIFY },
	{ "lchown", { 94, 16, NONE, 16 }, NOTIFY },
	{ "lchown32", { NONE, 198, NONE, 198 }, NOTIFY },
	{ "fchown", { 93, 95, 55, 95 }, NOTIFY },
	{ "fchown32", { NONE, 207, NONE, 207 }, NOTIFY },
	{ "fchownat", { 260, 298, 54, 325 }, NOTIFY },
	{ "utime", { 132, 30, NONE, NONE }, NOTIFY },
	{ "utimes", { 235, 271, NONE, 269 }, NOTIFY },
	{ "futimesat", { 261, 299, NONE, 326 }, NOTIFY },
	{ "utimensat", { 280, 320, 88, 348 }, NOTIFY },
	{ "utimensat_time64", { NONE, 412, NONE, 412 }, NOTIFY },
	{ "setxattr", { 188, 226, 5, 226 }, NOTIFY },
	{ "lsetxattr", { 189, 227, 6, 227 }, NOTIFY },
	{ "fsetxattr", { 190, 228, 7, 228 }, NOTIFY },
	{ "setxattrat", { 463, 463, 463, 463 }, NOTIFY },
	{ "removexattr", { 197, 235, 14, 235 }, NOTIFY },
	{ "lremovexattr", { 198, 236, 15, 236 }, NOTIFY },
	{ "fremovexattr", { 199, 237, 16, 237 }, NOTIFY },
	{ "removexattrat", { 466, 466, 466, 466 }, NOTIFY },
	{ "umask", { 95, 60, 166, 60 }, NOTIFY },
	{ "chdir", { 80, 12, 49, 12 }, NOTIFY },
	{ "fchdir", { 81, 133, 50, 133 }, NOTIFY },
	{ "read", { 0, 3, 63, 3 }, ALLOW },
	{ "write", { 1, 4, 64, 4 }, ALLOW },
	{ "newfstatat", { 262, 300, 79, 327 }, ALLOW },
	{ "readlinkat", { 267, 305, 78, 332 }, ALLOW },
	{ "getdents64", { 217, 220, 61, 217 }, ALLOW },
	{ "ftruncate", { 77, 93, 46, 93 }, ALLOW },
	{ "execve", { 59, 11, 221, 11 }, ALLOW },
};

enum { OPEN, OPENAT, ACCESS, FACCESSAT, FACCESSAT2 };

static const struct {
	const char *name;
	unsigned arg;
	uint32_t nr[N_ARCHS];
} judged[] = {
	[OPEN] = { "open", 1, { 2, 5, NONE, 5 } },
	[OPENAT] = { "openat", 2, { 257, 295, 56, 322 } },
	[ACCESS] = { "access", 1, { 21, 33, NONE, 33 } },
	[FACCESSAT] = { "faccessat", 2, { 269, 307, 48, 334 } },
	[FACCESSAT2] = { "faccessat2", 2, { 439, 439, 439, 439 } },
};

/* By a flag, in the low half alone; the last column: with the questions for reads as well. */
static const struct {
	int call;
	uint64_t arg;
	uint32_t files, both;
} cases[] = {
	{ OPEN, 0, ALLOW, NOTIFY },
	{ OPEN, 02000000, ALLOW, NOTIFY }, /* O_CLOEXEC */
	{ OPEN, O_WRONLY, NOTIFY, NOTIFY },
	{ OPEN, O_RDWR, NOTIFY, NOTIFY },
	{ OPEN, 3, NOTIFY, NOTIFY },
	{ OPEN, O_CREAT, NOTIFY, NOTIFY },
	{ OPEN, O_TRUNC, NOTIFY, NOTIFY },
	{ OPEN, O_EXCL, ALLOW, NOTIFY },
	{ OPEN, HIGH, ALLOW, NOTIFY },
	{ OPEN, HIGH | O_RDWR, NOTIFY, NOTIFY },
	{ OPENAT, 0, ALLOW, NOTIFY },
	{ OPENAT, O_WRONLY, NOTIFY, NOTIFY },
	{ OPENAT, HIGH | O_CREAT, NOTIFY, NOTIFY },
	{ OPENAT, O_TRUNC, NOTIFY, NOTIFY },
	{ ACCESS, 0, ALLOW, ALLOW },
	{ ACCESS, 5, ALLOW, ALLOW },
	{ ACCESS, 2, NOTIFY, NOTIFY },
	{ ACCESS, 6, NOTIFY, NOTIFY },
	{ FACCESSAT, 4, ALLOW, ALLOW },
	{ FACCESSAT, HIGH | 2, NOTIFY, NOTIFY },
	{ FACCESSAT2, 1, ALLOW, ALLOW },
	{ FACCESSAT2, 7, NOTIFY, NOTIFY },
};

static void check_calls(int arch)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct seccomp_data d = { .nr = (int)calls[i].nr[arch], .arch = archs[arch].audit };

		if (calls[i].nr[arch] == NONE)
			continue;
		is_int(run(archs[arch].files, &d, true), calls[i].answer,
		       "%s %s, by its number alone", archs[arch].name, calls[i].name);
		is_int(run(archs[arch].reads, &d, true), ALLOW, "%s %s is nothing that reads",
		       archs[arch].name, calls[i].name);
	}
}

static void check_cases(int arch)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct seccomp_data d = { .nr = (int)judged[cases[i].call].nr[arch],
					  .arch = archs[arch].audit };
		uint32_t files, reads;

		if (judged[cases[i].call].nr[arch] == NONE)
			continue;
		d.args[judged[cases[i].call].arg] = cases[i].arg;
		files = run(archs[arch].files, &d, false);
		reads = run(archs[arch].reads, &d, false);
		is_int(files, cases[i].files, "%s %s with 0x%llx", archs[arch].name,
		       judged[cases[i].call].name, (unsigned long long)cases[i].arg);
		is_int(files == NOTIFY ? files : reads, cases[i].both, "%s %s with 0x%llx, reads",
		       archs[arch].name, judged[cases[i].call].name,
		       (unsigned long long)cases[i].arg);
	}
}

int main(void)
{
	struct sock_filter insns[SECCOMP_COMPOSED_MAX];

	for (int arch = 0; arch < N_ARCHS; arch++) {
		check_calls(arch);
		check_cases(arch);
	}
	is_int(seccomp_compose(SECCOMP_NOTIFY_FILES | SECCOMP_NOTIFY_READS, insns),
	       seccomp_notify_files.len + seccomp_notify_reads.len + 1, "both in one filter");
	ok(seccomp_compose(SECCOMP_NOTIFY, insns) > 0, "all questions fit into one filter");
	is_str(seccomp_describe(SECCOMP_NOTIFY_FILES | SECCOMP_NOTIFY_READS),
	       "default+notify-files+notify-reads", "their name");
	return done();
}
