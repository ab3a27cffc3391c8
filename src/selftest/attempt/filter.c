/* SPDX-License-Identifier: MIT */
/*
 * System calls that must not get as far as the kernel. Making them for real would harm the machine
 * (reboot), or prove nothing where the kernel was built without them (x32). So the attempt stacks
 * a filter of its own that stops the call for a tracer: the sandbox's refusal outranks that stop,
 * so the stop is seen only when the sandbox lets the call through. It is then never made.
 */
#include "selftest/attempt/attempt.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/fscrypt.h>
#include <linux/fsverity.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

/* RET_TRACE for this call, all others pass. */
static int watch(const struct call *call)
{
	const unsigned char other = 3; /* instructions to the last one */
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_I386, call->i386 ? 0 : other,
			 call->i386 ? other : 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call->number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { ARRAY_LEN(code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		return -errno;
	return 0;
}

static long make(const struct call *call)
{
	const long *a = call->args;

#ifdef __x86_64__
	if (call->i386) {
		long r;

		__asm__ volatile("int $0x80"
				 : "=a"(r)
				 : "a"(call->number), "b"(a[0]), "c"(a[1]), "d"(a[2]), "S"(a[3]),
				   "D"(a[4])
				 : "memory", "r8", "r9", "r10", "r11");
		errno = r < 0 ? (int)-r : 0;
		return r < 0 ? -1 : r;
	}
#endif
	return syscall(call->number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

_Noreturn static void child(const struct call *call)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0 || raise(SIGSTOP) || watch(call) < 0)
		_exit(254);
	_exit(make(call) < 0 ? errno : 0);
}

/* On to what the call comes to: a signal on the way, which another attempt may have sent to all, is passed on. */
static int await_call(pid_t pid, int *ret_status)
{
	int sig = 0;

	do {
		if (ptrace(PTRACE_CONT, pid, NULL, (long)sig) < 0 ||
		    waitpid(pid, ret_status, 0) < 0)
			return -1;
		sig = WSTOPSIG(*ret_status) == SIGSTOP ? 0 : WSTOPSIG(*ret_status); /* its own */
	} while (WIFSTOPPED(*ret_status) && *ret_status >> 16 == 0);
	return 0;
}

int reaches_kernel(const struct call *call)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		child(call);
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status))
		return unable("a traced child");
	if (ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL) < 0 ||
	    await_call(pid, &status) < 0)
		return unable("tracing: %m");
	if (WIFEXITED(status) && WEXITSTATUS(status) == 254)
		return unable("a filter of its own");
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
		return -EPERM; /* and more: a runtime's filter kills for it */
	if (WIFEXITED(status))
		return WEXITSTATUS(status) ? -WEXITSTATUS(status) : unable("was not stopped");
	if (WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_SECCOMP) {
		kill(pid, SIGKILL);
		return WORKED;
	}
	kill(pid, SIGKILL);
	return unable("ended with wait status %#x", (unsigned)status);
}

#define ROW(n, places, gate, nr, ...)                                           \
	{                                                                       \
		.name = (n), .where = (places), .call = &(const struct call)    \
		{                                                               \
			.number = (nr), .i386 = (gate), .args = { __VA_ARGS__ } \
		}                                                               \
	}
#define CALL(n, ...) ROW(n, IN_ALL, false, __VA_ARGS__, 0)
#define GATE(n, ...) ROW(n, IN_ALL, true, __VA_ARGS__, 0)
/* What --allow-nested lifts. */
#define LIFTED(n, ...) ROW(n, IN_NONE | IN_ROOT, false, __VA_ARGS__, 0)
#define GATE_LIFTED(n, ...) ROW(n, IN_NONE | IN_ROOT, true, __VA_ARGS__, 0)

const struct attempt filter_attempts[] = {
	CALL("filter-init-module", SYS_init_module),
	CALL("filter-finit-module", SYS_finit_module, -1),
	CALL("filter-delete-module", SYS_delete_module),
	CALL("filter-kexec-load", SYS_kexec_load),
	CALL("filter-kexec-file-load", SYS_kexec_file_load, -1),
	CALL("filter-reboot", SYS_reboot),
	CALL("filter-swapon", SYS_swapon),
	CALL("filter-swapoff", SYS_swapoff),
	CALL("filter-quotactl", SYS_quotactl),
	CALL("filter-vhangup", SYS_vhangup),
	CALL("filter-clock-settime", SYS_clock_settime, 99),
	CALL("filter-clock-adjtime", SYS_clock_adjtime, 99),
	CALL("filter-adjtimex", SYS_adjtimex),
	CALL("filter-migrate-pages", SYS_migrate_pages),
	CALL("filter-move-pages", SYS_move_pages),
	CALL("filter-open-by-handle", SYS_open_by_handle_at, -1),
	LIFTED("filter-setns", SYS_setns, -1),
	CALL("filter-memfd-secret", SYS_memfd_secret, -1),
	CALL("filter-fanotify-mark", SYS_fanotify_mark, -1),
	CALL("filter-io-uring-enter", SYS_io_uring_enter, -1),
	CALL("filter-io-uring-register", SYS_io_uring_register, -1),
	CALL("filter-keyctl", SYS_keyctl, 99),
	CALL("filter-add-key", SYS_add_key),
	CALL("filter-request-key", SYS_request_key),
	CALL("filter-bpf", SYS_bpf, 99),
	LIFTED("filter-mount", SYS_mount),
	LIFTED("filter-open-tree-attr", 467, -1),
	LIFTED("filter-fsopen", SYS_fsopen),
	LIFTED("filter-move-mount", SYS_move_mount, -1),
	LIFTED("filter-chroot", SYS_chroot),
	CALL("filter-statmount", 457),
	CALL("filter-listmount", 458),
	CALL("filter-listns", 470),
	CALL("filter-quotactl-fd", 443, -1),
	CALL("filter-unknown-call", 1999),
	CALL("filter-lease", SYS_fcntl, -1, 1024),
	CALL("filter-lease-high", SYS_fcntl, -1, 1024 | 1L << 32),
	CALL("filter-delegation", SYS_fcntl, -1, 1039),

	/* what the owner of a file may do to it by a descriptor for reading */
	CALL("filter-file-flags", SYS_ioctl, -1, FS_IOC_SETFLAGS),
	CALL("filter-file-flags-high", SYS_ioctl, -1, FS_IOC_SETFLAGS | 1L << 32),
	CALL("filter-file-attributes", SYS_ioctl, -1, FS_IOC_FSSETXATTR),
	CALL("filter-file-attributes-call", 469, -1),
	CALL("filter-file-version", SYS_ioctl, -1, FS_IOC_SETVERSION),
	CALL("filter-file-sealed", SYS_ioctl, -1, FS_IOC_ENABLE_VERITY),
	CALL("filter-file-key", SYS_ioctl, -1, FS_IOC_REMOVE_ENCRYPTION_KEY),

	/* families and protocols of sockets */
	CALL("filter-alg", SYS_socket, AF_ALG, SOCK_SEQPACKET),
	CALL("filter-packet", SYS_socket, AF_PACKET, SOCK_RAW),
	CALL("filter-old-packet", SYS_socket, AF_INET, SOCK_PACKET),
	CALL("filter-vsock", SYS_socket, AF_VSOCK, SOCK_STREAM),
	CALL("filter-xdp", SYS_socket, AF_XDP, SOCK_RAW),
	CALL("filter-key", SYS_socket, AF_KEY, SOCK_RAW, 2),
	CALL("filter-bluetooth", SYS_socket, AF_BLUETOOTH, SOCK_RAW, 1),
	CALL("filter-can", SYS_socket, AF_CAN, SOCK_RAW, 1),
	CALL("filter-tipc", SYS_socket, AF_TIPC, SOCK_RDM),
	CALL("filter-rds", SYS_socket, AF_RDS, SOCK_SEQPACKET),
	CALL("filter-qipcrtr", SYS_socket, 42, SOCK_DGRAM),
	CALL("filter-smc", SYS_socket, 43, SOCK_STREAM),
	CALL("filter-ppp", SYS_socket, AF_PPPOX, SOCK_STREAM),
	CALL("filter-sctp", SYS_socket, AF_INET, SOCK_STREAM, 132),
	CALL("filter-sctp-by-type", SYS_socket, AF_INET, SOCK_SEQPACKET),
	CALL("filter-sctp-by-type-v6", SYS_socket, AF_INET6, SOCK_SEQPACKET),
	CALL("filter-dccp-by-type", SYS_socket, AF_INET, SOCK_DCCP),
	CALL("filter-mptcp", SYS_socket, AF_INET, SOCK_STREAM, 262),
	CALL("filter-udplite", SYS_socket, AF_INET, SOCK_DGRAM, 136),
	CALL("filter-l2tp", SYS_socket, AF_INET, SOCK_DGRAM, 115),
	CALL("filter-netfilter", SYS_socket, AF_NETLINK, SOCK_RAW, 12),
	CALL("filter-xfrm", SYS_socket, AF_NETLINK, SOCK_RAW, 6),
	CALL("filter-audit", SYS_socket, AF_NETLINK, SOCK_RAW, 9),
	CALL("filter-generic", SYS_socket, AF_NETLINK, SOCK_RAW, 16),
	CALL("filter-crypto", SYS_socket, AF_NETLINK, SOCK_RAW, 21),

	/* bits that the kernel drops must not get past the filter */
	CALL("filter-alg-high", SYS_socket, AF_ALG | 1L << 32, SOCK_SEQPACKET),
	CALL("filter-netfilter-high", SYS_socket, AF_NETLINK, SOCK_RAW, 12 | 1L << 32),
	CALL("filter-pair-tipc", SYS_socketpair, AF_TIPC, SOCK_RDM),
	CALL("filter-sti", SYS_ioctl, -1, 0x5412),
	CALL("filter-sti-high", SYS_ioctl, -1, 0x5412 | 1L << 32),
	CALL("filter-console", SYS_ioctl, -1, 0x541c),
	CALL("filter-console-high", SYS_ioctl, -1, 0x541c | 1L << 33),
	CALL("filter-console-output", SYS_ioctl, -1, 0x541d),
	CALL("filter-discipline", SYS_ioctl, -1, 0x5423),

#ifdef __x86_64__
	CALL("filter-iopl", SYS_iopl),
	CALL("filter-ioperm", SYS_ioperm),

	/* the numbers of x32, which mean the same calls */
	CALL("filter-x32-getpid", 0x40000000 + 39),
	CALL("filter-x32-ptrace", 0x40000000 + 521, 99),
	CALL("filter-x32-socket", 0x40000000 + 41, AF_ALG, SOCK_SEQPACKET),

	/* the gate of 32-bit programs and the numbers of i386: a table of our own calls alone would
	 * read them as others */
	GATE("filter-i386-socketcall", 102, 1),
	GATE("filter-i386-ipc", 117),
	GATE("filter-i386-socket-alg", 359, AF_ALG, SOCK_SEQPACKET),
	GATE("filter-i386-file-flags", 54, -1, FS_IOC32_SETFLAGS),
	GATE("filter-i386-keyctl", 288, 99),
	GATE("filter-i386-add-key", 286),
	GATE("filter-i386-bpf", 357, 99),
	GATE("filter-i386-io-uring", 425),
	GATE_LIFTED("filter-i386-mount", 21),
	GATE_LIFTED("filter-i386-unshare", 310, 0x10000000),
	GATE_LIFTED("filter-i386-clone3", 435),
	GATE("filter-i386-kexec", 283),
	GATE("filter-i386-init-module", 128),
	GATE("filter-i386-stime", 25),
	GATE("filter-i386-handle", 342, -1),
	GATE("filter-i386-sti", 54, -1, 0x5412),
	GATE("filter-i386-lease", 55, -1, 1024),
	GATE("filter-i386-lease-64", 221, -1, 1024),
#endif
	{ 0 },
};
