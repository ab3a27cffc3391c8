/* SPDX-License-Identifier: MIT */
/*
 * What the generated filters answer, by running their instructions here: for all four archs on any
 * machine, by numbers written out, so that a slip in a list or in libseccomp's tables shows.
 */
#include <linux/filter.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/audit.h>
#include <linux/seccomp.h>

#include "bpf.h"
#include "lib/tap.h"
#include "os/linux/seccomp.h"

#define HIGH 0xdeadbeef00000000ULL /* bits that the kernel does not look at, and we must not */
#define X32 0x40000000u

#define ALLOW SECCOMP_RET_ALLOW
#define NOTIFY SECCOMP_RET_USER_NOTIF
#define PERM (SECCOMP_RET_ERRNO | EPERM)
#define NOSYS (SECCOMP_RET_ERRNO | ENOSYS)
#define NOFAMILY (SECCOMP_RET_ERRNO | EAFNOSUPPORT)
#define NOPROTO (SECCOMP_RET_ERRNO | EPROTONOSUPPORT)
#define KILL SECCOMP_RET_KILL_PROCESS

/* Made for this test, for both machines. */
extern const struct seccomp_program seccomp_x86_default, seccomp_x86_nested, seccomp_x86_notify;
extern const struct seccomp_program seccomp_x86_weak_default, seccomp_x86_weak_nested;
extern const struct seccomp_program seccomp_x86_refused_default, seccomp_x86_refused_nested;
extern const struct seccomp_program seccomp_arm_default, seccomp_arm_nested, seccomp_arm_notify;
extern const struct seccomp_program seccomp_arm_weak_default, seccomp_arm_weak_nested;
extern const struct seccomp_program seccomp_arm_refused_default, seccomp_arm_refused_nested;

enum { X86_64, I386, AARCH64, ARM, N_ARCHS };

static const struct {
	const char *name;
	uint32_t audit;
	const struct seccomp_program *def, *nested, *notify;
	const struct seccomp_program *weak[2], *refused[2]; /* of 'default' and 'nested' */
} archs[N_ARCHS] = {
	[X86_64] = { "x86_64",
		     AUDIT_ARCH_X86_64,
		     &seccomp_x86_default,
		     &seccomp_x86_nested,
		     &seccomp_x86_notify,
		     { &seccomp_x86_weak_default, &seccomp_x86_weak_nested },
		     { &seccomp_x86_refused_default, &seccomp_x86_refused_nested } },
	[I386] = { "i386",
		   AUDIT_ARCH_I386,
		   &seccomp_x86_default,
		   &seccomp_x86_nested,
		   &seccomp_x86_notify,
		   { &seccomp_x86_weak_default, &seccomp_x86_weak_nested },
		   { &seccomp_x86_refused_default, &seccomp_x86_refused_nested } },
	[AARCH64] = { "aarch64",
		      AUDIT_ARCH_AARCH64,
		      &seccomp_arm_default,
		      &seccomp_arm_nested,
		      &seccomp_arm_notify,
		      { &seccomp_arm_weak_default, &seccomp_arm_weak_nested },
		      { &seccomp_arm_refused_default, &seccomp_arm_refused_nested } },
	[ARM] = { "arm",
		  AUDIT_ARCH_ARM,
		  &seccomp_arm_default,
		  &seccomp_arm_nested,
		  &seccomp_arm_notify,
		  { &seccomp_arm_weak_default, &seccomp_arm_weak_nested },
		  { &seccomp_arm_refused_default, &seccomp_arm_refused_nested } },
};

/* Calls that do not look at arguments. */
static const struct {
	int arch;
	uint32_t nr;
	const char *name;
	uint32_t def, nested;
} calls[] = {
	{ X86_64, 0, "read", ALLOW, ALLOW },
	{ X86_64, 39, "getpid", ALLOW, ALLOW },
	{ X86_64, 59, "execve", ALLOW, ALLOW },
	{ X86_64, 101, "ptrace", ALLOW, ALLOW },
	{ X86_64, 103, "syslog", PERM, PERM },
	{ X86_64, 133, "mknod", ALLOW, ALLOW },
	{ X86_64, 134, "uselib", NOSYS, NOSYS },
	{ X86_64, 153, "vhangup", PERM, PERM },
	{ X86_64, 154, "modify_ldt", NOSYS, NOSYS },
	{ X86_64, 155, "pivot_root", PERM, ALLOW },
	{ X86_64, 159, "adjtimex", PERM, PERM },
	{ X86_64, 161, "chroot", PERM, ALLOW },
	{ X86_64, 163, "acct", PERM, PERM },
	{ X86_64, 164, "settimeofday", PERM, PERM },
	{ X86_64, 165, "mount", PERM, ALLOW },
	{ X86_64, 166, "umount2", PERM, ALLOW },
	{ X86_64, 167, "swapon", PERM, PERM },
	{ X86_64, 169, "reboot", PERM, PERM },
	{ X86_64, 170, "sethostname", PERM, ALLOW },
	{ X86_64, 172, "iopl", PERM, PERM },
	{ X86_64, 173, "ioperm", PERM, PERM },
	{ X86_64, 175, "init_module", PERM, PERM },
	{ X86_64, 179, "quotactl", PERM, PERM },
	{ X86_64, 219, "restart_syscall", ALLOW, ALLOW },
	{ X86_64, 227, "clock_settime", PERM, PERM },
	{ X86_64, 246, "kexec_load", PERM, PERM },
	{ X86_64, 248, "add_key", PERM, PERM },
	{ X86_64, 249, "request_key", PERM, PERM },
	{ X86_64, 250, "keyctl", PERM, PERM },
	{ X86_64, 257, "openat", ALLOW, ALLOW },
	{ X86_64, 298, "perf_event_open", PERM, PERM },
	{ X86_64, 300, "fanotify_init", PERM, PERM },
	{ X86_64, 303, "name_to_handle_at", ALLOW, ALLOW },
	{ X86_64, 304, "open_by_handle_at", PERM, PERM },
	{ X86_64, 305, "clock_adjtime", PERM, PERM },
	{ X86_64, 308, "setns", PERM, ALLOW },
	{ X86_64, 310, "process_vm_readv", ALLOW, ALLOW },
	{ X86_64, 312, "kcmp", ALLOW, ALLOW },
	{ X86_64, 313, "finit_module", PERM, PERM },
	{ X86_64, 317, "seccomp", ALLOW, ALLOW },
	{ X86_64, 320, "kexec_file_load", PERM, PERM },
	{ X86_64, 321, "bpf", PERM, PERM },
	{ X86_64, 323, "userfaultfd", PERM, PERM },
	{ X86_64, 334, "rseq", ALLOW, ALLOW },
	{ X86_64, 335, "uretprobe", ALLOW, ALLOW },
	{ X86_64, 336, "uprobe", NOSYS, NOSYS },
	{ X86_64, 423, "not a call", NOSYS, NOSYS },
	{ X86_64, 424, "pidfd_send_signal", ALLOW, ALLOW },
	{ X86_64, 425, "io_uring_setup", NOSYS, NOSYS },
	{ X86_64, 426, "io_uring_enter", NOSYS, NOSYS },
	{ X86_64, 427, "io_uring_register", NOSYS, NOSYS },
	{ X86_64, 428, "open_tree", PERM, ALLOW },
	{ X86_64, 429, "move_mount", PERM, ALLOW },
	{ X86_64, 430, "fsopen", PERM, ALLOW },
	{ X86_64, 433, "fspick", PERM, ALLOW },
	{ X86_64, 434, "pidfd_open", ALLOW, ALLOW },
	{ X86_64, 435, "clone3", NOSYS, ALLOW },
	{ X86_64, 438, "pidfd_getfd", ALLOW, ALLOW },
	{ X86_64, 442, "mount_setattr", PERM, ALLOW },
	{ X86_64, 443, "quotactl_fd", PERM, PERM },
	{ X86_64, 444, "landlock_create_ruleset", ALLOW, ALLOW },
	{ X86_64, 447, "memfd_secret", NOSYS, NOSYS },
	{ X86_64, 452, "fchmodat2", ALLOW, ALLOW },
	{ X86_64, 457, "statmount", NOSYS, NOSYS },
	{ X86_64, 460, "lsm_set_self_attr", PERM, PERM },
	{ X86_64, 462, "mseal", ALLOW, ALLOW },
	{ X86_64, 467, "open_tree_attr", PERM, ALLOW },
	{ X86_64, 468, "file_getattr", ALLOW, ALLOW },
	{ X86_64, 469, "file_setattr", PERM, PERM },
	{ X86_64, 470, "a call to come", NOSYS, NOSYS },
	{ X86_64, 520, "execve of x32 without its bit", NOSYS, NOSYS },
	{ X86_64, 100000, "not a call", NOSYS, NOSYS },
	{ X86_64, X32 | 0, "read of x32", NOSYS, NOSYS },
	{ X86_64, X32 | 39, "getpid of x32", NOSYS, NOSYS },
	{ X86_64, X32 | 321, "bpf of x32", NOSYS, NOSYS },
	{ X86_64, X32 | 520, "execve of x32", NOSYS, NOSYS },
	{ X86_64, 0x80000000u | 39, "a negative number", NOSYS, NOSYS },
	{ X86_64, 0xfffffffe, "-2", NOSYS, NOSYS },
	{ X86_64, 0xffffffff, "-1, a tracer's skip", ALLOW, ALLOW },

	{ I386, 3, "read", ALLOW, ALLOW },
	{ I386, 20, "getpid", ALLOW, ALLOW },
	{ I386, 21, "mount", PERM, ALLOW },
	{ I386, 22, "umount", PERM, ALLOW },
	{ I386, 25, "stime", PERM, PERM },
	{ I386, 26, "ptrace", ALLOW, ALLOW },
	{ I386, 61, "chroot", PERM, ALLOW },
	{ I386, 88, "reboot", PERM, PERM },
	{ I386, 101, "ioperm, not ptrace", PERM, PERM },
	{ I386, 102, "socketcall", NOSYS, NOSYS },
	{ I386, 117, "ipc", NOSYS, NOSYS },
	{ I386, 119, "sigreturn", ALLOW, ALLOW },
	{ I386, 123, "modify_ldt", NOSYS, NOSYS },
	{ I386, 128, "init_module", PERM, PERM },
	{ I386, 165, "getresuid, not mount", ALLOW, ALLOW },
	{ I386, 166, "vm86", NOSYS, NOSYS },
	{ I386, 192, "mmap2", ALLOW, ALLOW },
	{ I386, 217, "pivot_root", PERM, ALLOW },
	{ I386, 243, "set_thread_area", ALLOW, ALLOW },
	{ I386, 288, "keyctl", PERM, PERM },
	{ I386, 336, "perf_event_open", PERM, PERM },
	{ I386, 346, "setns", PERM, ALLOW },
	{ I386, 350, "finit_module", PERM, PERM },
	{ I386, 357, "bpf", PERM, PERM },
	{ I386, 362, "connect", ALLOW, ALLOW },
	{ I386, 374, "userfaultfd", PERM, PERM },
	{ I386, 395, "shmget", ALLOW, ALLOW },
	{ I386, 403, "clock_gettime64", ALLOW, ALLOW },
	{ I386, 404, "clock_settime64", PERM, PERM },
	{ I386, 405, "clock_adjtime64", PERM, PERM },
	{ I386, 422, "futex_time64", ALLOW, ALLOW },
	{ I386, 425, "io_uring_setup", NOSYS, NOSYS },
	{ I386, 435, "clone3", NOSYS, ALLOW },
	{ I386, 467, "open_tree_attr", PERM, ALLOW },
	{ I386, 100000, "not a call", NOSYS, NOSYS },

	{ AARCH64, 40, "mount", PERM, ALLOW },
	{ AARCH64, 51, "chroot", PERM, ALLOW },
	{ AARCH64, 63, "read", ALLOW, ALLOW },
	{ AARCH64, 116, "syslog", PERM, PERM },
	{ AARCH64, 117, "ptrace", ALLOW, ALLOW },
	{ AARCH64, 142, "reboot", PERM, PERM },
	{ AARCH64, 172, "getpid", ALLOW, ALLOW },
	{ AARCH64, 219, "keyctl", PERM, PERM },
	{ AARCH64, 268, "setns", PERM, ALLOW },
	{ AARCH64, 280, "bpf", PERM, PERM },
	{ AARCH64, 335, "not uretprobe", NOSYS, NOSYS },
	{ AARCH64, 425, "io_uring_setup", NOSYS, NOSYS },
	{ AARCH64, 435, "clone3", NOSYS, ALLOW },
	{ AARCH64, 100000, "not a call", NOSYS, NOSYS },

	{ ARM, 20, "getpid", ALLOW, ALLOW },
	{ ARM, 21, "mount", PERM, ALLOW },
	{ ARM, 102, "socketcall of the old ABI", NOSYS, NOSYS },
	{ ARM, 311, "keyctl", PERM, PERM },
	{ ARM, 386, "bpf", PERM, PERM },
	{ ARM, 425, "io_uring_setup", NOSYS, NOSYS },
	{ ARM, 0xf0002, "cacheflush", ALLOW, ALLOW },
	{ ARM, 0xf0005, "set_tls", ALLOW, ALLOW },
	{ ARM, 0xf0010, "not a call", NOSYS, NOSYS },
};

/* Calls that do, with their numbers on each arch. */
enum { SOCKET, SOCKETPAIR, IOCTL, FCNTL, CLONE, UNSHARE, PERSONALITY };

static const struct {
	const char *name;
	uint32_t nr[N_ARCHS];
} judged[] = {
	[SOCKET] = { "socket", { 41, 359, 198, 281 } },
	[SOCKETPAIR] = { "socketpair", { 53, 360, 199, 288 } },
	[IOCTL] = { "ioctl", { 16, 54, 29, 54 } },
	[FCNTL] = { "fcntl", { 72, 55, 25, 55 } },
	[CLONE] = { "clone", { 56, 120, 220, 120 } },
	[UNSHARE] = { "unshare", { 272, 310, 97, 337 } },
	[PERSONALITY] = { "personality", { 135, 136, 92, 136 } },
};

/* The third answer is the one of the base filter with the questions for the network on top. */
static const struct {
	int call;
	uint64_t args[3];
	uint32_t def, nested, notify;
} cases[] = {
	/* families */
	{ SOCKET, { 1, 1, 0 }, ALLOW, ALLOW, ALLOW },
	{ SOCKET, { 2, 1, 0 }, ALLOW, ALLOW, NOTIFY },
	{ SOCKET, { 2, 0x80801, 6 }, ALLOW, ALLOW, NOTIFY },
	{ SOCKET, { 2, 2, 17 }, ALLOW, ALLOW, NOTIFY },
	{ SOCKET, { 2, 2, 1 }, ALLOW, ALLOW, NOTIFY },
	{ SOCKET, { 10, 2, 58 }, ALLOW, ALLOW, NOTIFY },
	{ SOCKET, { 10, 1, 0 }, ALLOW, ALLOW, NOTIFY },
	{ SOCKET, { 16, 3, 0 }, ALLOW, ALLOW, NOTIFY },
	{ SOCKET, { 16, 2, 0 }, ALLOW, ALLOW, NOTIFY },
	{ SOCKET, { 0, 1, 0 }, NOFAMILY, NOFAMILY, NOFAMILY },
	{ SOCKET, { 15, 3, 2 }, NOFAMILY, NOFAMILY, NOFAMILY },   /* AF_KEY */
	{ SOCKET, { 17, 3, 0 }, NOFAMILY, NOFAMILY, NOFAMILY },   /* AF_PACKET */
	{ SOCKET, { 29, 3, 1 }, NOFAMILY, NOFAMILY, NOFAMILY },   /* AF_CAN */
	{ SOCKET, { 30, 1, 0 }, NOFAMILY, NOFAMILY, NOFAMILY },   /* AF_TIPC */
	{ SOCKET, { 31, 3, 0 }, NOFAMILY, NOFAMILY, NOFAMILY },   /* AF_BLUETOOTH */
	{ SOCKET, { 38, 5, 0 }, NOFAMILY, NOFAMILY, NOFAMILY },   /* AF_ALG */
	{ SOCKET, { 40, 1, 0 }, NOFAMILY, NOFAMILY, NOFAMILY },   /* AF_VSOCK */
	{ SOCKET, { 43, 1, 0 }, NOFAMILY, NOFAMILY, NOFAMILY },   /* AF_SMC */
	{ SOCKET, { 44, 3, 0 }, NOFAMILY, NOFAMILY, NOFAMILY },   /* AF_XDP */
	{ SOCKET, { 1000, 1, 0 }, NOFAMILY, NOFAMILY, NOFAMILY }, /* none */
	/* netlink beyond routes: sock_diag, audit, netfilter, uevent, generic */
	{ SOCKET, { 16, 3, 4 }, NOPROTO, NOPROTO, NOPROTO },
	{ SOCKET, { 16, 3, 9 }, NOPROTO, NOPROTO, NOPROTO },
	{ SOCKET, { 16, 3, 12 }, NOPROTO, NOPROTO, NOPROTO },
	{ SOCKET, { 16, 3, 15 }, NOPROTO, NOPROTO, NOPROTO },
	{ SOCKET, { 16, 3, 16 }, NOPROTO, NOPROTO, NOPROTO },
	/* MPTCP, SMC, SCTP; SOCK_PACKET under an allowed family */
	{ SOCKET, { 2, 1, 262 }, NOPROTO, NOPROTO, NOPROTO },
	{ SOCKET, { 10, 1, 262 }, NOPROTO, NOPROTO, NOPROTO },
	{ SOCKET, { 2, 1, 256 }, NOPROTO, NOPROTO, NOPROTO },
	{ SOCKET, { 2, 1, 132 }, NOPROTO, NOPROTO, NOPROTO },
	{ SOCKET, { 2, 10, 0 }, NOFAMILY, NOFAMILY, NOFAMILY },
	{ SOCKET, { 2, 0x8000a, 0 }, NOFAMILY, NOFAMILY, NOFAMILY },
	/* bits above the low 32 change nothing, either way */
	{ SOCKET, { HIGH | 1, HIGH | 1, HIGH }, ALLOW, ALLOW, ALLOW },
	{ SOCKET, { HIGH | 2, HIGH | 1, HIGH | 6 }, ALLOW, ALLOW, NOTIFY },
	{ SOCKET, { HIGH | 16, 3, HIGH | 0 }, ALLOW, ALLOW, NOTIFY },
	{ SOCKET, { HIGH | 16, 3, HIGH | 12 }, NOPROTO, NOPROTO, NOPROTO },
	{ SOCKET, { HIGH | 40, 1, 0 }, NOFAMILY, NOFAMILY, NOFAMILY },
	{ SOCKET, { HIGH | 2, HIGH | 10, 0 }, NOFAMILY, NOFAMILY, NOFAMILY },
	{ SOCKET, { 2, 1, HIGH | 262 }, NOPROTO, NOPROTO, NOPROTO },

	{ SOCKETPAIR, { 1, 1, 0 }, ALLOW, ALLOW, ALLOW },
	{ SOCKETPAIR, { HIGH | 1, 1, 0 }, ALLOW, ALLOW, ALLOW },
	{ SOCKETPAIR, { 2, 1, 0 }, NOFAMILY, NOFAMILY, NOFAMILY },
	{ SOCKETPAIR, { HIGH | 30, 1, 0 }, NOFAMILY, NOFAMILY, NOFAMILY },

	{ IOCTL, { 0, 0x5401, 0 }, ALLOW, ALLOW, ALLOW },
	{ IOCTL, { 0, 0x5412, 0 }, PERM, PERM, PERM },
	{ IOCTL, { 0, HIGH | 0x5412, 0 }, PERM, PERM, PERM },
	{ IOCTL, { 0, 0x100005412, 0 }, PERM, PERM, PERM },
	{ IOCTL, { HIGH | 0x5412, 0x5401, 0x5412 }, ALLOW, ALLOW, ALLOW },
	{ IOCTL, { 0, 0x5413, 0 }, ALLOW, ALLOW, ALLOW },
	{ IOCTL, { 0, HIGH | 0x541c, 0 }, PERM, PERM, PERM },
	{ IOCTL, { 0, 0x541d, 0 }, PERM, PERM, PERM },
	{ IOCTL, { 0, HIGH | 0x5423, 0 }, PERM, PERM, PERM },
	{ IOCTL, { 0, 0x40086602, 0 }, PERM, PERM, PERM },        /* FS_IOC_SETFLAGS */
	{ IOCTL, { 0, HIGH | 0x40046602, 0 }, PERM, PERM, PERM }, /* of 32-bit programs */
	{ IOCTL, { 0, 0x401c5820, 0 }, PERM, PERM, PERM },        /* FS_IOC_FSSETXATTR */
	{ IOCTL, { 0, HIGH | 0x40087602, 0 }, PERM, PERM, PERM }, /* FS_IOC_SETVERSION */
	{ IOCTL, { 0, 0x40047602, 0 }, PERM, PERM, PERM },        /* of 32-bit programs */
	{ IOCTL, { 0, HIGH | 0x40086604, 0 }, PERM, PERM, PERM }, /* EXT4_IOC_SETVERSION */
	{ IOCTL, { 0, 0x40046604, 0 }, PERM, PERM, PERM },        /* of 32-bit programs */
	{ IOCTL, { 0, HIGH | 0x6609, 0 }, PERM, PERM, PERM },     /* EXT4_IOC_MIGRATE */
	{ IOCTL, { 0, 0x40806685, 0 }, PERM, PERM, PERM },        /* FS_IOC_ENABLE_VERITY */
	{ IOCTL, { 0, HIGH | 0x50009402, 0 }, PERM, PERM, PERM }, /* BTRFS_IOC_DEFRAG */
	{ IOCTL, { 0, 0x40309410, 0 }, PERM, PERM, PERM },        /* BTRFS_IOC_DEFRAG_RANGE */
	{ IOCTL, { 0, HIGH | 0x4004f50d, 0 }, PERM, PERM, PERM }, /* F2FS_IOC_SET_PIN_FILE */
	{ IOCTL, { 0, 0x40047211, 0 }, PERM, PERM, PERM },        /* FAT_IOCTL_SET_ATTRIBUTES */
	{ IOCTL, { 0, HIGH | 0xc0506617, 0 }, PERM, PERM, PERM }, /* FS_IOC_ADD_ENCRYPTION_KEY */
	{ IOCTL, { 0, 0xc0406618, 0 }, PERM, PERM, PERM },        /* FS_IOC_REMOVE_ENCRYPTION_KEY */
	{ IOCTL, { 0, 0x80086601, 0 }, ALLOW, ALLOW, ALLOW },     /* FS_IOC_GETFLAGS */
	{ IOCTL, { 0, 0x801c581f, 0 }, ALLOW, ALLOW, ALLOW },     /* FS_IOC_FSGETXATTR */
	{ IOCTL, { 0, 0x40049409, 0 }, ALLOW, ALLOW, ALLOW },     /* FICLONE */
	{ IOCTL, { 0, 0xc020660b, 0 }, ALLOW, ALLOW, ALLOW },     /* FS_IOC_FIEMAP */

	{ FCNTL, { 0, 1, 0 }, ALLOW, ALLOW, ALLOW },
	{ FCNTL, { 0, 1025, 0 }, ALLOW, ALLOW, ALLOW }, /* F_GETLEASE */
	{ FCNTL, { 0, 1024, 0 }, PERM, PERM, PERM },
	{ FCNTL, { 0, HIGH | 1024, 1 }, PERM, PERM, PERM },
	{ FCNTL, { 0, 1039, 0 }, PERM, PERM, PERM },

	{ CLONE, { 17, 0, 0 }, ALLOW, ALLOW, ALLOW },
	{ CLONE, { 0x3d0f00, 0, 0 }, ALLOW, ALLOW, ALLOW }, /* a thread */
	{ CLONE, { 0x4111, 0, 0 }, ALLOW, ALLOW, ALLOW },   /* vfork */
	{ CLONE, { 0x91, 0, 0 }, ALLOW, ALLOW, ALLOW },     /* 0x80 is no namespace here */
	{ CLONE, { 0x20011, 0, 0 }, PERM, ALLOW, PERM },
	{ CLONE, { 0x2000011, 0, 0 }, PERM, ALLOW, PERM },
	{ CLONE, { 0x4000011, 0, 0 }, PERM, ALLOW, PERM },
	{ CLONE, { 0x8000011, 0, 0 }, PERM, ALLOW, PERM },
	{ CLONE, { 0x10000011, 0, 0 }, PERM, ALLOW, PERM },
	{ CLONE, { 0x20000011, 0, 0 }, PERM, ALLOW, PERM },
	{ CLONE, { 0x40000011, 0, 0 }, PERM, ALLOW, PERM },
	{ CLONE, { HIGH | 0x10000011, 0, 0 }, PERM, ALLOW, PERM },
	{ CLONE, { HIGH | 17, 0, 0 }, ALLOW, ALLOW, ALLOW },

	{ UNSHARE, { 0, 0, 0 }, ALLOW, ALLOW, ALLOW },
	{ UNSHARE, { 0x600, 0, 0 }, ALLOW, ALLOW, ALLOW }, /* FS and FILES */
	{ UNSHARE, { 0x80, 0, 0 }, PERM, ALLOW, PERM },    /* NEWTIME */
	{ UNSHARE, { 0x20000, 0, 0 }, PERM, ALLOW, PERM },
	{ UNSHARE, { 0x10000000, 0, 0 }, PERM, ALLOW, PERM },
	{ UNSHARE, { HIGH | 0x50000600, 0, 0 }, PERM, ALLOW, PERM },

	{ PERSONALITY, { 0, 0, 0 }, ALLOW, ALLOW, ALLOW },
	{ PERSONALITY, { 8, 0, 0 }, ALLOW, ALLOW, ALLOW },
	{ PERSONALITY, { 0x20000, 0, 0 }, ALLOW, ALLOW, ALLOW },
	{ PERSONALITY, { 0x40000, 0, 0 }, ALLOW, ALLOW, ALLOW },
	{ PERSONALITY, { 0x40008, 0, 0 }, ALLOW, ALLOW, ALLOW },
	{ PERSONALITY, { 0xffffffff, 0, 0 }, ALLOW, ALLOW, ALLOW },
	{ PERSONALITY, { HIGH | 0xffffffff, 0, 0 }, ALLOW, ALLOW, ALLOW },
	{ PERSONALITY, { 1, 0, 0 }, PERM, PERM, PERM },
	{ PERSONALITY, { 0x400000, 0, 0 }, PERM, PERM, PERM }, /* READ_IMPLIES_EXEC */
	{ PERSONALITY, { 0x100000, 0, 0 }, PERM, PERM, PERM }, /* MMAP_PAGE_ZERO */
	{ PERSONALITY, { 0xfffffffe, 0, 0 }, PERM, PERM, PERM },
	{ PERSONALITY, { HIGH | 0x440000, 0, 0 }, PERM, PERM, PERM },
};

/* The kernel's rule for stacked filters. */
static uint32_t stricter(uint32_t a, uint32_t b)
{
	int32_t x = (int32_t)(a & SECCOMP_RET_ACTION_FULL);
	int32_t y = (int32_t)(b & SECCOMP_RET_ACTION_FULL);

	return x < y ? a : b;
}

static void is_action(uint32_t got, uint32_t want, const char *filter, const char *what)
{
	ok(got == want, "%s: %s", filter, what);
	if (got != want)
		diag("got 0x%x, wanted 0x%x", got, want);
}

static void check_calls(void)
{
	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		struct seccomp_data d = { .nr = (int)calls[i].nr,
					  .arch = archs[calls[i].arch].audit };
		char what[96];

		snprintf(what, sizeof(what), "%s %s (0x%x)", archs[calls[i].arch].name,
			 calls[i].name, calls[i].nr);
		is_action(run(archs[calls[i].arch].def, &d, false), calls[i].def, "default", what);
		is_action(run(archs[calls[i].arch].nested, &d, false), calls[i].nested, "nested",
			  what);
		is_action(run(archs[calls[i].arch].notify, &d, false), ALLOW, "notify-net", what);
	}
}

static void check_cases(int arch)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const uint64_t *args = cases[i].args;
		struct seccomp_data d = {
			.nr = (int)judged[cases[i].call].nr[arch],
			.arch = archs[arch].audit,
			.args = { args[0], args[1], args[2] },
		};
		uint32_t base = run(archs[arch].def, &d, false);
		char what[128];

		snprintf(what, sizeof(what), "%s %s(0x%llx, 0x%llx, 0x%llx)", archs[arch].name,
			 judged[cases[i].call].name, (unsigned long long)args[0],
			 (unsigned long long)args[1], (unsigned long long)args[2]);
		is_action(base, cases[i].def, "default", what);
		is_action(run(archs[arch].nested, &d, false), cases[i].nested, "nested", what);
		is_action(stricter(base, run(archs[arch].notify, &d, false)), cases[i].notify,
			  "default+notify-net", what);
	}
}

static bool is_judged(int arch, uint32_t nr)
{
	for (size_t i = 0; i < ARRAY_LEN(judged); i++)
		if (judged[i].nr[arch] == nr)
			return true;
	return false;
}

/* What is told of is refused in two halves: each number with arguments that any rule looks at. */
static void check_refused(int arch)
{
	static const uint64_t values[] = { 0,          1,       2,       3,          10,
					   16,         17,      40,      0x5412,     0x5423,
					   0x20000,    0x80,    0x20011, 0x10000011, 0x40000000,
					   0xffffffff, HIGH | 2 };
	size_t n = ARRAY_LEN(values), wrong = 0, told = 0;

	for (int nested = 0; nested < 2; nested++)
		for (uint32_t nr = 0; nr < 1200; nr++)
			for (size_t i = 0; i < n * n * n; i++) {
				struct seccomp_data d = {
					.nr = (int)(nr < 1100 ? nr : (nr - 1100) | X32),
					.arch = archs[arch].audit,
					.args = { values[i % n], values[i / n % n],
						  values[i / n / n] },
				};
				uint32_t base = run(nested ? archs[arch].nested : archs[arch].def,
						    &d, false);
				uint32_t both = stricter(
					run(archs[arch].weak[nested], &d, false),
					run(archs[arch].refused[nested], &d, false));
				bool tells = base != ALLOW && base != NOSYS;

				wrong += both != (tells ? NOTIFY : base);
				told += tells;
				if (!is_judged(arch, nr))
					break; /* its arguments say nothing */
			}
	is_int((long)wrong, 0, "%s: the halves refuse what the whole does", archs[arch].name);
	ok(told > 1000, "%s: and much of it is told (%zu)", archs[arch].name, told);
}

/* The supervisor's own reading of the filter. */
static void check_judge(int own)
{
	size_t wrong = 0;

	for (uint32_t nr = 0; nr < 1024; nr++)
		for (uint64_t arg = 0; arg < 64; arg++) {
			struct seccomp_data d = { .nr = (int)nr,
						  .arch = archs[own].audit,
						  .args = { arg, arg % 7, arg % 5 } };
			uint32_t base = run(archs[own].def, &d, false);

			wrong += seccomp_judge(false, &d) !=
				 (base == ALLOW ? 0 : (int)(base & SECCOMP_RET_DATA));
		}
	is_int((long)wrong, 0, "seccomp_judge() says what the filter does");
	is_int(seccomp_judge(false, &(struct seccomp_data){ .arch = AUDIT_ARCH_S390X }), ENOSYS,
	       "and no to a machine that it does not know");
}

/* Numbers of another arch, or of no arch that we know. */
static void check_aliens(void)
{
	const uint32_t aliens[] = { AUDIT_ARCH_S390X, AUDIT_ARCH_MIPS, 0, 0xffffffff };

	for (size_t i = 0; i < ARRAY_LEN(aliens); i++) {
		struct seccomp_data d = { .nr = 39, .arch = aliens[i] };

		for (int arch = 0; arch < N_ARCHS; arch++) {
			is_action(run(archs[arch].def, &d, false), KILL, "default", "alien arch");
			is_action(run(archs[arch].nested, &d, false), KILL, "nested", "alien arch");
		}
	}
}

/* What the kernel can remember costs nothing at run time: the common calls must be such. */
static void check_remembered(void)
{
	static const struct {
		const char *name;
		uint32_t nr[N_ARCHS];
	} hot[] = {
		{ "read", { 0, 3, 63, 3 } },         { "write", { 1, 4, 64, 4 } },
		{ "close", { 3, 6, 57, 6 } },        { "openat", { 257, 295, 56, 322 } },
		{ "futex", { 202, 240, 98, 240 } },  { "epoll_pwait", { 281, 319, 22, 346 } },
		{ "prctl", { 157, 172, 167, 172 } },
	};

	for (size_t i = 0; i < ARRAY_LEN(hot); i++) {
		for (int arch = 0; arch < N_ARCHS; arch++) {
			struct seccomp_data d = { .nr = (int)hot[i].nr[arch],
						  .arch = archs[arch].audit };

			ok(run(archs[arch].def, &d, true) == ALLOW &&
				   run(archs[arch].nested, &d, true) == ALLOW &&
				   run(archs[arch].notify, &d, true) == ALLOW,
			   "%s %s is decided by its number", archs[arch].name, hot[i].name);
			ok(run(archs[arch].weak[0], &d, true) == ALLOW &&
				   run(archs[arch].refused[0], &d, true) == ALLOW,
			   "%s %s is, where refusals are told of", archs[arch].name, hot[i].name);
		}
	}
}

/* Lengths are compared whole: of one of 4 GiB the low half is 0. */
static void check_memory(const char *name, int len_arg, int mode_arg, uint64_t least)
{
	const struct {
		uint64_t len;
		bool asks;
	} lens[] = { { 0, false },         { 4096, false },
		     { least - 1, false }, { least, true },
		     { least + 1, true },  { 0xffffffff, true },
		     { 1ULL << 32, true }, { (1ULL << 32) + 1, true },
		     { UINT64_MAX, true } };
	const struct seccomp_call *call = seccomp_notify_memory.calls;
	struct sock_filter insns[SECCOMP_COMPOSED_MAX];
	struct seccomp_program composed = { insns, 0, NULL };

	composed.len = (unsigned short)seccomp_compose(SECCOMP_NOTIFY_MEMORY, insns);
	while (call->name && strcmp(call->name, name) != 0)
		call++;
	if (!call->name)
		return; /* this machine has no such call */
	for (size_t i = 0; i < ARRAY_LEN(lens); i++) {
		struct seccomp_data d = { .nr = (int)call->nr, .arch = call->arch };

		d.args[len_arg] = lens[i].len;
		if (mode_arg >= 0)
			d.args[mode_arg] = 3;
		ok((run(&composed, &d, false) == SECCOMP_RET_USER_NOTIF) == lens[i].asks,
		   "%s of 0x%llx is %sasked about", name, (unsigned long long)lens[i].len,
		   lens[i].asks ? "" : "not ");
		if (mode_arg < 0)
			continue;
		d.args[mode_arg] = 5;
		ok(run(&composed, &d, false) == ALLOW, "... and not where it is not writable");
	}
}

static bool same_program(const struct seccomp_program *a, const struct seccomp_program *b)
{
	return a->len == b->len && memcmp(a->insns, b->insns, a->len * sizeof(a->insns[0])) == 0;
}

/* One filter says what the two would together. */
static void check_whole(int own, unsigned flags, bool ready)
{
	struct sock_filter insns[SECCOMP_WHOLE_MAX], questions[SECCOMP_COMPOSED_MAX];
	struct seccomp_program whole = { insns, 0 }, asks = { questions, 0 };
	bool nested = flags & SECCOMP_NESTED, weak = flags & SECCOMP_NOTIFY_REFUSED;
	const struct seccomp_program *base = weak     ? archs[own].weak[nested]
					     : nested ? archs[own].nested
						      : archs[own].def;
	unsigned different = 0, arches[] = { archs[own].audit, archs[own + 1].audit, 0x12345 };

	whole.len = (unsigned short)seccomp_whole(flags, insns);
	asks.len = (unsigned short)seccomp_compose(flags, questions);
	/* What most have is made in one piece, and shorter than what is strung together. */
	ok(ready ? whole.len > 0 && whole.len < base->len + asks.len
		 : whole.len == base->len + asks.len,
	   "%s: its length, %d of %d", seccomp_describe(flags), whole.len, base->len + asks.len);
	for (unsigned nr = 0; nr < 3 * 1100; nr++)
		for (unsigned k = 0; k < 64; k++) {
			struct seccomp_data d = { (int)(nr / 3), arches[nr % 3], 0, { 0 } };

			for (unsigned i = 0; i < 6; i++)
				d.args[i] = k < 32 ? 1ULL << k : k * 0x01234567ULL * (i + 1);
			different += run(&whole, &d, false) !=
				     stricter(run(base, &d, false), run(&asks, &d, false));
		}
	is_int(different, 0, "%s: and its answers", seccomp_describe(flags));
}

/* The library's own programs are the ones checked above, for the machine it is built for. */
static void check_library(void)
{
#ifdef __x86_64__
	const int own = X86_64;
#elif defined(__aarch64__)
	const int own = AARCH64;
#else
#error "no filters for this machine"
#endif
	const unsigned most = SECCOMP_NOTIFY_NET | SECCOMP_NOTIFY_FILES | SECCOMP_NOTIFY_REFUSED;
	struct sock_filter insns[SECCOMP_WHOLE_MAX];
	struct seccomp_program composed = { insns, 0 };

	ok(same_program(&seccomp_default, archs[own].def), "the library has this 'default'");
	ok(same_program(&seccomp_nested, archs[own].nested), "the library has this 'nested'");
	ok(same_program(&seccomp_notify_net, archs[own].notify), "the library has this 'notify'");
	is_int(seccomp_compose(0, insns), 0, "no questions, no filter for them");
	is_int(seccomp_compose(SECCOMP_NESTED, insns), 0, "'nested' asks no questions");
	composed.len = (unsigned short)seccomp_compose(SECCOMP_NOTIFY_NET, insns);
	is_int(composed.len, archs[own].notify->len + 1, "a fragment and a last return");
	is_int(insns[composed.len - 1].k, ALLOW, "which allows");
	ok(seccomp_default.len <= 256 && seccomp_nested.len <= 256, "they are short");
	diag("instructions: default %d, nested %d, notify-net %d", seccomp_default.len,
	     seccomp_nested.len, composed.len);

	check_judge(own);
	composed.len = (unsigned short)seccomp_compose(SECCOMP_NOTIFY, insns);
	ok(composed.len > 0, "all questions fit into one filter (%d of %d)", composed.len,
	   SECCOMP_COMPOSED_MAX);

	check_whole(own, SECCOMP_NOTIFY_FILES | SECCOMP_NOTIFY_CONNECT, false);
	check_whole(own, SECCOMP_NOTIFY, false);
	check_whole(own, SECCOMP_NOTIFY | SECCOMP_NESTED, false);
	check_whole(own, most | SECCOMP_NOTIFY_CONNECT, true);
	check_whole(own, most | SECCOMP_NOTIFY_CONNECT | SECCOMP_NOTIFY_READS, true);
	check_whole(own, most, true);
	check_whole(own, (most & ~(unsigned)SECCOMP_NOTIFY_FILES) | SECCOMP_NOTIFY_WATCH, true);
	check_whole(own, most | SECCOMP_NOTIFY_CONNECT | SECCOMP_NESTED, false);
	is_int(seccomp_whole(0, insns), seccomp_default.len, "no questions: what is refused alone");

	is_str(seccomp_describe(0), "default", "name of 0");
	is_str(seccomp_describe(SECCOMP_NOTIFY | SECCOMP_NESTED),
	       "nested+notify-net+notify-files+notify-watch+notify-reads+notify-connect"
	       "+notify-rename+notify-refused+notify-memory",
	       "name of all");
	is_str(seccomp_describe(SECCOMP_NESTED), "nested", "name of NESTED");
	is_str(seccomp_describe(SECCOMP_NOTIFY_NET), "default+notify-net", "name of NOTIFY_NET");
	is_str(seccomp_describe(SECCOMP_NESTED | SECCOMP_NOTIFY_NET), "nested+notify-net",
	       "name of both");
}

int main(void)
{
	check_calls();
	for (int arch = 0; arch < N_ARCHS; arch++)
		check_cases(arch);
	for (int arch = 0; arch < N_ARCHS; arch++)
		check_refused(arch);
	check_aliens();
	check_remembered();
	check_memory("mmap", 1, 2, 0x100000);
	check_memory("mmap2", 1, 2, 0x100000);
	check_memory("mprotect", 1, 2, 0x40000);
	check_memory("mremap", 2, -1, 0x100000);
	check_library();
	return done();
}
