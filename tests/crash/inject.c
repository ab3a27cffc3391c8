/* SPDX-License-Identifier: MIT */
/*
 * inject [-o FILE] [-p PREFIX [-w WORD]] ACTION N COMMAND...: breaks a command at its N-th call that writes.
 *
 * Such calls make, change, name, remove or sync files; write() and its kin count where they are about a
 * regular file. They are counted over all processes of the command, in the order in which they come;
 * with -p only those of programs whose name begins with PREFIX (several: with commas), with -w those whose first
 * argument is WORD. ACTION is
 *
 *   kill       the process that makes it dies, before the call is done
 *   all        every process of the command dies with it, as when the machine goes down
 *   stop       the process that makes it stops (SIGSTOP), before the call is done
 *   EIO, ...   the call is not done, and fails with this error; the others are
 *   EIO+, ...  the same, and every later one
 *
 * Our exit status is the command's (128 + signal when it died of one); FILE gets how many calls were
 * seen and which one was hit ('-': it has fewer than N). We stay until every process has ended.
 *
 * A seccomp filter stops the command at these calls alone (RET_TRACE, the weakest but one of all
 * actions, so that filters of its own go before), and we are its tracer: no preloading, static programs
 * and namespaces make no difference.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/ptrace.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

long ptrace(int request, pid_t pid, void *addr,
	    void *data); /* sys/ptrace.h and linux/ptrace.h quarrel */

enum { PIDS = 1 << 22, ALWAYS = -1, CREATES = -2 }; /* else: the argument that is a descriptor */

static const struct call {
	int number;
	int which;
	const char *name;
} calls[] = {
#define CALL(name, which)                \
	{                                \
		SYS_##name, which, #name \
	}
#ifdef SYS_rename
	CALL(rename, ALWAYS),    CALL(link, ALWAYS),      CALL(unlink, ALWAYS),
	CALL(mkdir, ALWAYS),     CALL(rmdir, ALWAYS),     CALL(symlink, ALWAYS),
	CALL(creat, ALWAYS),     CALL(open, CREATES),
#endif
#ifdef SYS_renameat
	CALL(renameat, ALWAYS),
#endif
	CALL(renameat2, ALWAYS), CALL(linkat, ALWAYS),    CALL(unlinkat, ALWAYS),
	CALL(mkdirat, ALWAYS),   CALL(symlinkat, ALWAYS), CALL(openat, CREATES),
	CALL(openat2, CREATES),  CALL(truncate, ALWAYS),  CALL(ftruncate, ALWAYS),
	CALL(fallocate, ALWAYS), CALL(fsync, ALWAYS),     CALL(fdatasync, ALWAYS),
	CALL(write, 0),          CALL(pwrite64, 0),       CALL(writev, 0),
	CALL(pwritev, 0),        CALL(sendfile, 0),       CALL(copy_file_range, 2),
};
enum { CALLS = sizeof(calls) / sizeof(*calls) };

static const struct {
	const char *name;
	int number;
} errors[] = { { "EIO", EIO },       { "ENOSPC", ENOSPC }, { "EMFILE", EMFILE },
	       { "ENOMEM", ENOMEM }, { "EDQUOT", EDQUOT }, { "EROFS", EROFS } };

static struct {
	int error;    /* 0: kill */
	bool all, on; /* kill everybody; fail from there on */
	int signal;
	long n, seen;
	const char *prefix, *word, *hit;
	char ours[PIDS]; /* by pid: 1 when its calls count, 2 when not, 0 when not looked at yet */
	char known[PIDS];
} job = { .hit = "-", .signal = SIGKILL };

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "inject: %s: %s\n", what, strerror(errno));
	exit(125);
}

/* Runs in the child: stops at the calls of the table from here on. */
static void filter_calls(void)
{
	struct sock_filter code[CALLS + 3] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = { .len = CALLS + 3, .filter = code };

	for (unsigned i = 0; i < CALLS; i++)
		code[i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							   (unsigned)calls[i].number,
							   (uint8_t)(CALLS - i), 0);
	code[CALLS + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[CALLS + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		die("no filter");
}

static bool has_prefix(const char *name)
{
	for (const char *p = job.prefix; p; p = strchr(p, ',')) {
		p += *p == ',';
		if (!strncmp(name, p, strcspn(p, ",")))
			return true;
	}
	return false;
}

static bool has_word(pid_t pid)
{
	char name[64], text[4096];
	FILE *file;
	size_t len;

	if (!job.word)
		return true;
	snprintf(name, sizeof(name), "/proc/%d/cmdline", pid);
	file = fopen(name, "re");
	len = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	if (file)
		fclose(file);
	text[len] = '\0';
	return len > strlen(text) + 1 && !strcmp(text + strlen(text) + 1, job.word);
}

/* A program that cannot be looked at (it has made itself undumpable) is taken for one that counts. */
static bool counts(pid_t pid)
{
	char link[64], path[4096];
	ssize_t len;

	if (!job.prefix)
		return true;
	if (!job.ours[pid]) {
		snprintf(link, sizeof(link), "/proc/%d/exe", pid);
		len = readlink(link, path, sizeof(path) - 1);
		path[len < 0 ? 0 : len] = '\0';
		job.ours[pid] = (len < 0 ||
				 (strrchr(path, '/') && has_prefix(strrchr(path, '/') + 1))) &&
						has_word(pid)
					? 1
					: 2;
	}
	return job.ours[pid] == 1;
}

static bool writes(pid_t pid, const struct call *call, const __u64 *args)
{
	__u64 flags = call->number == SYS_openat ? args[2] : args[1];
	struct stat st;
	char link[64];

	if (call->which == ALWAYS)
		return true;
	if (call->number == SYS_openat2)
		flags = (__u64)ptrace(PTRACE_PEEKDATA, pid, (void *)args[2],
				      NULL); /* open_how begins with them */
	if (call->which == CREATES)
		return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
	snprintf(link, sizeof(link), "/proc/%d/fd/%d", pid, (int)args[call->which]);
	return stat(link, &st) < 0 ? errno != ENOENT : S_ISREG(st.st_mode);
}

/* The call is not made; its result is the error. */
static void fail(pid_t pid)
{
#if defined(__x86_64__)
	struct user_regs_struct regs;
	struct iovec io = { &regs, sizeof(regs) };

	if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &io) < 0)
		return;
	regs.orig_rax = (unsigned long long)-1;
	regs.rax = (unsigned long long)-job.error;
	ptrace(PTRACE_SETREGSET, pid, (void *)NT_PRSTATUS, &io);
#elif defined(__aarch64__)
	struct user_regs_struct regs;
	int none = -1;
	struct iovec io = { &regs, sizeof(regs) }, number = { &none, sizeof(none) };

	if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &io) < 0)
		return;
	regs.regs[0] = (unsigned long long)-job.error;
	ptrace(PTRACE_SETREGSET, pid, (void *)NT_PRSTATUS, &io);
	ptrace(PTRACE_SETREGSET, pid, (void *)NT_ARM_SYSTEM_CALL, &number);
#else
#error "how does a call fail here?"
#endif
}

static void strike(pid_t pid)
{
	if (job.error) {
		fail(pid);
		return;
	}
	for (pid_t other = 1; job.all && other < PIDS; other++)
		if (job.known[other])
			kill(other, SIGKILL);
	kill(pid, job.signal);
}

static void at_call(pid_t pid)
{
	struct ptrace_syscall_info info;
	const struct call *call = NULL;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(info), &info) < 0 ||
	    info.op != PTRACE_SYSCALL_INFO_SECCOMP)
		return;
	for (unsigned i = 0; i < CALLS && !call; i++)
		call = info.seccomp.nr == (uint64_t)calls[i].number ? &calls[i] : NULL;
	if (!call || !counts(pid) || !writes(pid, call, info.seccomp.args))
		return;
	job.seen++;
	if (job.seen == job.n)
		job.hit = call->name;
	if (job.seen == job.n || (job.on && job.seen > job.n))
		strike(pid);
}

static void on_stop(pid_t pid, int status)
{
	int event = status >> 16, number = WSTOPSIG(status);

	job.known[pid] = 1;
	if (event == PTRACE_EVENT_SECCOMP)
		at_call(pid);
	if (event == PTRACE_EVENT_EXEC)
		job.ours[pid] = 0;
	if (event == PTRACE_EVENT_STOP && number != SIGTRAP)
		ptrace(PTRACE_LISTEN, pid, NULL,
		       NULL); /* stopped as a job, and stays so until SIGCONT */
	else
		ptrace(PTRACE_CONT, pid, NULL, (void *)(long)(event ? 0 : number));
}

static int watch(pid_t child)
{
	int status, result = 125;
	pid_t pid;

	while ((pid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
		if (pid <= 0 || pid >= PIDS)
			continue;
		if (WIFSTOPPED(status)) {
			on_stop(pid, status);
			continue;
		}
		job.ours[pid] = job.known[pid] = 0;
		if (pid == child)
			result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
	return result;
}

static int start(char **words)
{
	long options = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
		       PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
	int go[2];
	pid_t child;
	char c;

	if (pipe2(go, O_CLOEXEC) < 0 || (child = fork()) < 0)
		die("no process");
	if (child == 0) {
		close(go[1]);
		if (read(go[0], &c, 1) != 1)
			_exit(125);
		filter_calls();
		execvp(words[0], words);
		die(words[0]);
	}
	close(go[0]);
	if (ptrace(PTRACE_SEIZE, child, NULL, (void *)options) < 0 || write(go[1], "", 1) != 1)
		die("cannot trace");
	close(go[1]);
	return child;
}

static void read_action(const char *action)
{
	size_t len = strcspn(action, "+");

	job.on = action[len] == '+';
	job.all = !strcmp(action, "all");
	for (unsigned i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (len == strlen(errors[i].name) && !strncmp(action, errors[i].name, len))
			job.error = errors[i].number;
	if (!strcmp(action, "stop"))
		job.signal = SIGSTOP;
	else if (!job.error && !job.all && strcmp(action, "kill") != 0) {
		errno = EINVAL;
		die(action);
	}
}

int main(int argc, char **argv)
{
	const char *out = NULL;
	int option, status;
	FILE *file;

	while ((option = getopt(argc, argv, "+o:p:w:")) != -1) {
		if (option == 'o')
			out = optarg;
		else if (option == 'p')
			job.prefix = optarg;
		else if (option == 'w')
			job.word = optarg;
		else
			return 125;
	}
	if (argc - optind < 3) {
		fputs("usage: inject [-o FILE] [-p PREFIX [-w WORD]] kill|all|stop|EIO... N "
		      "COMMAND...\n",
		      stderr);
		return 125;
	}
	read_action(argv[optind]);
	job.n = strtol(argv[optind + 1], NULL, 10);
	status = watch(start(argv + optind + 2));
	if (out) {
		file = fopen(out, "we");
		if (!file || fprintf(file, "%ld %s\n", job.seen, job.hit) < 0 || fclose(file))
			die(out);
	}
	return status;
}
