/* SPDX-License-Identifier: MIT */
/*
 * The filters in the kernel: really loaded in a child, which then really calls. Every case runs in
 * a child without the filter as well, and a refusal must be one that only the filter explains,
 * unless the case says that this kernel may refuse by itself in the same words.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "lib/tap.h"
#include "os/linux/seccomp.h"

#define HIGH 0xdeadbeef00000000ULL
#define SAME (-1)  /* as without the filter */
#define LOOSE true /* the kernel itself may answer so */

struct call {
	const char *what;
	long nr;
	uint64_t args[6];
	int def, nested; /* errno, 0 or SAME */
	bool loose;
};

#define NEW_USER 0x10000000ULL
#define NEW_TIME 0x80ULL

static const struct call calls[] = {
	{ "getpid", SYS_getpid, { 0 }, SAME, SAME },
	{ "socket(UNIX)", SYS_socket, { 1, 1, 0 }, 0, 0 },
	{ "socket(INET)", SYS_socket, { 2, 1, 0 }, 0, 0 },
	{ "socket(INET6, UDP)", SYS_socket, { 10, 2, 17 }, SAME, SAME },
	{ "socket(INET) with high bits", SYS_socket, { HIGH | 2, HIGH | 2, HIGH }, 0, 0 },
	{ "socket(NETLINK, ROUTE)", SYS_socket, { 16, 3, 0 }, 0, 0 },
	{ "socket(NETLINK, uevent)", SYS_socket, { 16, 3, 15 }, EPROTONOSUPPORT, EPROTONOSUPPORT },
	{ "socket(NETLINK, generic) with high bits",
	  SYS_socket,
	  { HIGH | 16, 3, HIGH | 16 },
	  EPROTONOSUPPORT,
	  EPROTONOSUPPORT },
	{ "socket(PACKET)", SYS_socket, { 17, 3, 0 }, EAFNOSUPPORT, EAFNOSUPPORT, LOOSE },
	{ "socket(PACKET) with high bits",
	  SYS_socket,
	  { HIGH | 17, 3, 0 },
	  EAFNOSUPPORT,
	  EAFNOSUPPORT,
	  LOOSE },
	{ "socket(ALG)", SYS_socket, { 38, 5, 0 }, EAFNOSUPPORT, EAFNOSUPPORT, LOOSE },
	{ "socket(VSOCK)", SYS_socket, { 40, 1, 0 }, EAFNOSUPPORT, EAFNOSUPPORT, LOOSE },
	{ "socket(INET, SOCK_PACKET)",
	  SYS_socket,
	  { 2, 10, 0 },
	  EAFNOSUPPORT,
	  EAFNOSUPPORT,
	  LOOSE },
	{ "socket(INET, MPTCP)",
	  SYS_socket,
	  { 2, 1, 262 },
	  EPROTONOSUPPORT,
	  EPROTONOSUPPORT,
	  LOOSE },
	{ "socketpair(INET)", SYS_socketpair, { 2, 1, 0, 0 }, EAFNOSUPPORT, EAFNOSUPPORT },
	{ "ioctl(TCGETS)", SYS_ioctl, { -1ULL, 0x5401, 0 }, EBADF, EBADF, LOOSE },
	{ "ioctl(TIOCSTI)", SYS_ioctl, { -1ULL, 0x5412, 0 }, EPERM, EPERM },
	{ "ioctl(TIOCSTI) with high bits", SYS_ioctl, { -1ULL, HIGH | 0x5412, 0 }, EPERM, EPERM },
	{ "ioctl(TIOCLINUX) with high bits", SYS_ioctl, { -1ULL, HIGH | 0x541c, 0 }, EPERM, EPERM },
	{ "ioctl(TIOCSETD)", SYS_ioctl, { -1ULL, 0x5423, 0 }, EPERM, EPERM },
	{ "fcntl(F_GETFD)", SYS_fcntl, { -1ULL, 1, 0 }, EBADF, EBADF, LOOSE },
	{ "fcntl(F_SETLEASE)", SYS_fcntl, { -1ULL, 1024, 0 }, EPERM, EPERM },
	{ "unshare(NEWUSER)", SYS_unshare, { NEW_USER }, EPERM, SAME, LOOSE },
	{ "unshare(NEWUSER) with high bits", SYS_unshare, { HIGH | NEW_USER }, EPERM, SAME },
	{ "unshare(NEWTIME)", SYS_unshare, { NEW_TIME }, EPERM, SAME, LOOSE },
	{ "unshare(FILES)", SYS_unshare, { 0x400 }, 0, 0 },
	{ "clone3 without arguments", SYS_clone3, { 0, 0 }, ENOSYS, EINVAL },
	{ "setns of no descriptor", SYS_setns, { -1ULL, 0 }, EPERM, EBADF },
	{ "chroot of no path", SYS_chroot, { 0 }, EPERM, SAME, LOOSE },
	{ "mount of no path", SYS_mount, { 0 }, EPERM, SAME, LOOSE },
	{ "move_mount of no path",
	  SYS_move_mount,
	  { -1ULL, 0, -1ULL, 0, ~0ULL },
	  EPERM,
	  SAME,
	  LOOSE },
	{ "keyctl(GET_KEYRING_ID)", SYS_keyctl, { 0, -3ULL, 0 }, EPERM, EPERM },
	{ "add_key without arguments", SYS_add_key, { 0 }, EPERM, EPERM },
	{ "bpf without a command", SYS_bpf, { 1000, 0, 0 }, EPERM, EPERM, LOOSE },
	{ "perf_event_open without arguments",
	  SYS_perf_event_open,
	  { 0, 0, 0, -1ULL, 0 },
	  EPERM,
	  EPERM },
	{ "userfaultfd with all flags", SYS_userfaultfd, { ~0ULL }, EPERM, EPERM, LOOSE },
	{ "io_uring_setup", SYS_io_uring_setup, { 1, 0 }, ENOSYS, ENOSYS },
	{ "io_uring_enter", SYS_io_uring_enter, { -1ULL }, ENOSYS, ENOSYS },
	{ "settimeofday of nothing", SYS_settimeofday, { 0, 0 }, EPERM, EPERM, LOOSE },
	{ "clock_settime of no clock", SYS_clock_settime, { 1000, 0 }, EPERM, EPERM },
	{ "open_by_handle_at", SYS_open_by_handle_at, { -1ULL, 0, 0 }, EPERM, EPERM, LOOSE },
	{ "name_to_handle_at", SYS_name_to_handle_at, { -1ULL, 0, 0, 0, 0 }, SAME, SAME },
	{ "personality(ask)", SYS_personality, { 0xffffffff }, 0, 0 },
	{ "personality(ADDR_NO_RANDOMIZE)", SYS_personality, { 0x40000 }, 0, 0 },
	{ "personality(READ_IMPLIES_EXEC)", SYS_personality, { 0x400000 }, EPERM, EPERM },
	{ "personality(0)", SYS_personality, { 0 }, 0, 0 },
	{ "ptrace(TRACEME)", SYS_ptrace, { 0 }, SAME, SAME },
	{ "process_vm_readv of nobody", SYS_process_vm_readv, { 0 }, SAME, SAME },
	{ "pidfd_open of nobody", SYS_pidfd_open, { 0, 0 }, EINVAL, EINVAL, LOOSE },
	{ "pidfd_getfd of none", SYS_pidfd_getfd, { -1ULL, 0, 0 }, EBADF, EBADF, LOOSE },
	{ "seccomp without an operation", SYS_seccomp, { 1000, 0, 0 }, EINVAL, EINVAL, LOOSE },
	{ "landlock_create_ruleset(version)", 444, { 0, 0, 1 }, SAME, SAME },
	{ "memfd_create of no name", SYS_memfd_create, { 0, 0 }, EFAULT, EFAULT, LOOSE },
	{ "not a call", 100000, { 0 }, ENOSYS, ENOSYS, LOOSE },
};

#ifdef __x86_64__
/* The same door from below: int 0x80 enters by the i386 table, from a 64-bit program too. */
static const struct call calls32[] = {
	{ "getpid", 20, { 0 }, SAME, SAME },
	{ "socket(UNIX)", 359, { 1, 1, 0 }, 0, 0 },
	{ "socket(NETLINK, uevent)", 359, { 16, 3, 15 }, EPROTONOSUPPORT, EPROTONOSUPPORT },
	{ "socket(PACKET)", 359, { 17, 3, 0 }, EAFNOSUPPORT, EAFNOSUPPORT, LOOSE },
	{ "socketcall", 102, { 1, 0 }, ENOSYS, ENOSYS },
	{ "ipc", 117, { 23, 0, 4096, 0 }, ENOSYS, ENOSYS },
	{ "ioctl(TIOCSTI)", 54, { 0xffffffff, 0x5412, 0 }, EPERM, EPERM },
	{ "fcntl(F_SETLEASE)", 55, { 0xffffffff, 1024, 0 }, EPERM, EPERM },
	{ "fcntl64(F_SETLEASE)", 221, { 0xffffffff, 1024, 0 }, EPERM, EPERM },
	{ "unshare(NEWUSER)", 310, { NEW_USER }, EPERM, SAME, LOOSE },
	{ "setns of no descriptor", 346, { 0xffffffff, 0 }, EPERM, EBADF },
	{ "keyctl(GET_KEYRING_ID)", 288, { 0, 0xfffffffd, 0 }, EPERM, EPERM },
	{ "perf_event_open", 336, { 0, 0, 0, 0xffffffff, 0 }, EPERM, EPERM },
	{ "io_uring_setup", 425, { 1, 0 }, ENOSYS, ENOSYS },
	{ "clone3", 435, { 0, 0 }, ENOSYS, EINVAL },
	{ "clock_settime64 of no clock", 404, { 1000, 0 }, EPERM, EPERM },
	{ "clock_gettime64 of no clock", 403, { 1000, 0 }, EINVAL, EINVAL, LOOSE },
	{ "personality(READ_IMPLIES_EXEC)", 136, { 0x400000 }, EPERM, EPERM },
	{ "not a call", 100000, { 0 }, ENOSYS, ENOSYS, LOOSE },
};

static long call32(long nr, const uint64_t *a)
{
	long ret = nr;

	__asm__ volatile("int $0x80"
			 : "+a"(ret)
			 : "b"(a[0]), "c"(a[1]), "d"(a[2]), "S"(a[3]), "D"(a[4])
			 : "memory", "cc", "r8", "r9", "r10", "r11");
	return ret;
}
#endif

static long call64(long nr, const uint64_t *a)
{
	long ret = syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);

	return ret < 0 ? -errno : ret;
}

#define UNFILTERED (-1)

static void enter(int filter)
{
	struct err err = { 0 };

	if (filter == UNFILTERED)
		return;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    seccomp_load((unsigned)filter, NULL, &err) < 0) {
		fprintf(stderr, "loading: %s\n", err.msg);
		_exit(1);
	}
}

/* The errno of a call made in a child of its own, 0 when it went well, -1 when the child died. */
static int try_call(long (*how)(long, const uint64_t *), const struct call *c, int filter)
{
	int *ret = mmap(NULL, sizeof(*ret), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			0);
	int result;
	pid_t pid;

	if (ret == MAP_FAILED)
		return -1;
	*ret = -1;
	pid = fork();
	if (pid == 0) {
		long r;

		enter(filter);
		r = how(c->nr, c->args);
		*ret = r < 0 ? (int)-r : 0;
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	result = *ret;
	munmap(ret, sizeof(*ret));
	return result;
}

/* The errnos that the filter gives. The others are the kernel's, which the call got through to. */
static bool is_refusal(int code)
{
	return code == EPERM || code == ENOSYS || code == EAFNOSUPPORT || code == EPROTONOSUPPORT;
}

static void check_call(long (*how)(long, const uint64_t *), const struct call *c, const char *arch)
{
	const int filters[] = { 0, SECCOMP_NESTED };
	int bare = try_call(how, c, UNFILTERED);

	for (size_t i = 0; i < ARRAY_LEN(filters); i++) {
		int want = filters[i] ? c->nested : c->def;
		const char *name = seccomp_describe((unsigned)filters[i]);

		is_int(try_call(how, c, filters[i]), want == SAME ? bare : want, "%s, %s: %s", arch,
		       name, c->what);
		if (is_refusal(want) && !c->loose)
			ok(want != bare, "%s, %s: %s, by the filter alone", arch, name, c->what);
	}
}

/* A raw clone returns twice, so that it has a function of its own. */
static long clone_call(long nr, const uint64_t *args)
{
	long r = syscall(nr, args[0], 0, 0, 0, 0);

	if (r == 0)
		_exit(0);
	if (r > 0)
		waitpid((pid_t)r, NULL, 0);
	return r < 0 ? -errno : r;
}

static void check_clone(void)
{
	const struct call plain = { "clone", SYS_clone, { SIGCHLD }, 0, 0 };
	const struct call user = {
		"clone(NEWUSER)", SYS_clone, { NEW_USER | SIGCHLD }, EPERM, SAME
	};

	check_call(clone_call, &plain, "native");
	check_call(clone_call, &user, "native");
}

static void check_arguments(void)
{
	struct err err = { 0 };
	unsigned has = seccomp_features();

	ok(has & SECCOMP_HAS_FILTER, "the kernel has filters");
	diag("notify %s, wait_killable %s", has & SECCOMP_HAS_NOTIFY ? "yes" : "no",
	     has & SECCOMP_HAS_WAIT_KILLABLE ? "yes" : "no");
	is_int(seccomp_load(1u << 30, NULL, &err), -EINVAL, "unknown flags are refused");
	is_int(seccomp_load(SECCOMP_NOTIFY_NET, NULL, &err), -EINVAL,
	       "questions without a listener are refused");
	is_int(prctl(PR_GET_SECCOMP), 0, "and nothing was loaded");
}

int main(void)
{
	check_arguments();
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		check_call(call64, &calls[i], "native");
	check_clone();
#ifdef __x86_64__
	if (try_call(call32, &calls32[0], UNFILTERED) == 0) {
		for (size_t i = 0; i < ARRAY_LEN(calls32); i++)
			check_call(call32, &calls32[i], "i386");
	} else {
		skip("i386 calls", "this kernel has no 32-bit entry");
	}
#endif
	return done();
}
