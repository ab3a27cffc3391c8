/* SPDX-License-Identifier: MIT */
/*
 * Processes that are not the sandbox's: the victim, a process of the same user on the host, by its
 * host pid; and PID 1 of the sandbox. In the control both are the victim.
 */
#include "selftest/attempt/attempt.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define IOPRIO_BEST_EFFORT_7 ((2 << 13) | 7)

static pid_t victim(void)
{
	return (pid_t)fact_number("pid");
}

/* PID 1, where the attempt is inside. */
static pid_t init(void)
{
	return inside ? 1 : victim();
}

static int signal_host(void)
{
	return outcome(kill(victim(), SIGURG));
}

static int signal_everybody(void)
{
	return outcome(kill(-1, SIGURG));
}

static int signal_host_by_pidfd(void)
{
	int fd = (int)syscall(SYS_pidfd_open, victim(), 0);

	return fd < 0 ? -errno : outcome(syscall(SYS_pidfd_send_signal, fd, SIGURG, NULL, 0));
}

static int see_process(long pid)
{
	char name[32] = "";
	int fd = open(proc_path(pid, "comm"), O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, name, sizeof(name) - 1);

	if (fd >= 0)
		close(fd);
	return n > 0 && !strncmp(name, "wx-victim", 9) ? WORKED : -ESRCH;
}

static int see_host(void)
{
	return for_each_process(see_process);
}

static int trace(pid_t pid)
{
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0)
		return -errno;
	(void)ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
	(void)waitpid(pid, NULL, __WALL);
	(void)ptrace(PTRACE_DETACH, pid, NULL, NULL);
	return WORKED;
}

static int trace_host(void)
{
	return trace(victim());
}

static int trace_init(void)
{
	return trace(init());
}

/* The address of the victim's secret; any page of PID 1 would do. */
static int copy_memory(pid_t pid)
{
	char bytes[64];
	struct iovec here = { bytes, sizeof(bytes) };
	struct iovec there = { (void *)fact_number("address"), sizeof(bytes) };
	ssize_t n = process_vm_readv(pid, &here, 1, &there, 1, 0);

	if (inside && n < 0 && errno == EFAULT)
		return WORKED; /* the right was there, the address was not */
	return n < 0 ? -errno : WORKED;
}

static int copy_memory_of_host(void)
{
	return copy_memory(victim());
}

static int copy_memory_of_init(void)
{
	return copy_memory(init());
}

static int write_memory_of_host(void)
{
	char byte = 'x';
	struct iovec here = { &byte, 1 };
	struct iovec there = { (void *)fact_number("scratch"), 1 };

	return outcome(process_vm_writev(victim(), &here, 1, &there, 1, 0));
}

static int take_descriptor(pid_t pid)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	int r = pidfd < 0 ? -errno : -EBADF;

	for (int fd = 0; pidfd >= 0 && fd < 64 && r == -EBADF; fd++)
		r = outcome(syscall(SYS_pidfd_getfd, pidfd, fd, 0));
	return r;
}

static int take_descriptor_of_host(void)
{
	return take_descriptor(victim());
}

static int take_descriptor_of_init(void)
{
	return take_descriptor(init());
}

static int open_file(pid_t pid, const char *name)
{
	char byte;
	int fd = open(proc_path(pid, name), O_RDONLY | O_CLOEXEC);

	/* Some are opened by anybody and checked when they are read. */
	return fd < 0 || read(fd, &byte, 1) < 0 ? -errno : WORKED;
}

static int memory_file(pid_t pid)
{
	int fd = open(proc_path(pid, "mem"), O_RDWR | O_CLOEXEC);
	char byte;
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = pread(fd, &byte, 1, fact_number("address"));
	return inside || n == 1 ? WORKED : -errno;
}

static int memory_of_host(void)
{
	return memory_file(victim());
}

static int memory_of_init(void)
{
	return memory_file(init());
}

static int environment_of_host(void)
{
	return read_secret(proc_path(victim(), "environ"));
}

/* Whatever stands there: it must not be readable at all, or be empty. */
static int environment_of_init(void)
{
	char byte;
	int fd = open(proc_path(init(), "environ"), O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, &byte, 1);

	return n < 0 ? -errno : n == 0 ? -ENODATA : WORKED;
}

static int maps_of_init(void)
{
	return open_file(init(), "maps");
}

static int stack_of_init(void)
{
	return open_file(init(), "auxv");
}

static int program_of_init(void)
{
	return outcome(open(proc_path(init(), "exe"), O_RDONLY | O_CLOEXEC));
}

/* Their numbers may be seen by root; where they lead may not. */
static int descriptors_of_init(void)
{
	char path[32], target[64];
	int r = -ENOENT;

	for (int fd = 0; fd < 64 && r != WORKED; fd++) {
		(void)snprintf(path, sizeof(path), "fd/%d", fd);
		if (readlink(proc_path(init(), path), target, sizeof(target)) >= 0)
			r = WORKED;
		else if (errno != ENOENT)
			r = -errno;
	}
	return r;
}

static int directory_of_init(void)
{
	return outcome(open(proc_path(init(), "cwd"), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* Overwriting the program of the next start by the kernel's link to it, as it was done to container
 * runtimes. The control has a program that does not run, which could not be written then. */
static int write_program_of_init(void)
{
	int fd = inside ? -1 : open("program", O_RDONLY | O_CREAT | O_CLOEXEC, 0700);
	char link[64];

	if (inside)
		return outcome(open(proc_path(1, "exe"), O_WRONLY | O_CLOEXEC));
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	fd = open(link, O_WRONLY | O_CLOEXEC);
	(void)unlink("program");
	return outcome(fd);
}

/* Memory, maps of ids, filters, the scheduler's: whatever its owner alone can open for writing. */
static int open_for_writing(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || st.st_mode & S_IWOTH)
		return -EACCES;
	return outcome(open(path, O_WRONLY | O_CLOEXEC));
}

static int any_file_of_init(void)
{
	DIR *dir = opendir(proc_path(init(), "."));
	const struct dirent *entry;
	int r = dir ? -ENOENT : -errno;

	while (dir && r != WORKED && (entry = readdir(dir)))
		r = open_for_writing(proc_path(init(), entry->d_name));
	return r;
}

static int namespaces_of_init(void)
{
	return outcome(open(proc_path(init(), "ns/mnt"), O_RDONLY | O_CLOEXEC));
}

static int oom_of_init(void)
{
	return outcome(open(proc_path(init(), "oom_score_adj"), O_WRONLY | O_CLOEXEC));
}

static int personality_of_init(void)
{
	return open_file(init(), "personality");
}

/*
 * A signal that ends PID 1 ends the sandbox. That it still lives is seen by its work: an orphan
 * goes away only when PID 1 has reaped it. The control kills a child of its own.
 */
static bool init_reaps(void)
{
	int fds[2], fd;
	pid_t orphan = 0, middle;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return false;
	middle = fork();
	if (middle == 0) {
		orphan = fork();
		if (orphan == 0)
			_exit(0);
		ignore(write(fds[1], &orphan, sizeof(orphan)));
		_exit(0);
	}
	if (read(fds[0], &orphan, sizeof(orphan)) != sizeof(orphan))
		return false;
	(void)waitpid(middle, NULL, 0);
	while ((fd = open(proc_path(orphan, "stat"), O_RDONLY | O_CLOEXEC)) >= 0) {
		close(fd);
		(void)sched_yield();
	}
	return true;
}

static int end_init(int signal_no)
{
	pid_t pid = 1;

	if (!inside) {
		pid = fork();
		if (pid == 0)
			for (;;)
				(void)pause();
	}
	if (kill(pid, signal_no) < 0)
		return -errno;
	if (!inside)
		return waitpid(pid, NULL, WUNTRACED) == pid ? WORKED : unable("no child");
	return init_reaps() ? -EALREADY : WORKED;
}

static int kill_init(void)
{
	return end_init(SIGKILL);
}

static int stop_init(void)
{
	return end_init(SIGSTOP);
}

static int crash_init(void)
{
	return end_init(SIGSEGV);
}

static int terminate_init(void)
{
	return end_init(SIGTERM);
}

static int slow_down_host(void)
{
	return outcome(setpriority(PRIO_PROCESS, (id_t)victim(), 19));
}

static int pin_host(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return unable("affinity: %m");
	return outcome(sched_setaffinity(victim(), sizeof(set), &set));
}

static int limit_host(void)
{
	struct rlimit limit;

	return outcome(prlimit(victim(), RLIMIT_NOFILE, NULL, &limit));
}

static int io_priority_of_host(void)
{
	return outcome(syscall(SYS_ioprio_set, 1, victim(), IOPRIO_BEST_EFFORT_7));
}

static int group_of_host(void)
{
	return outcome(getpgid(victim()));
}

_Noreturn static void stay(int ready)
{
	int lock = open("daemon-lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct flock all = { .l_type = F_WRLCK };

	(void)setsid();
	(void)alarm(0);
	for (int i = 1; i < NSIG; i++)
		(void)signal(i, SIG_IGN);
	if (fcntl(lock, F_SETLK, &all) == 0)
		ignore(write(ready, "", 1));
	for (;;)
		(void)pause();
}

/* It outlives its parent; inside it must not outlive the sandbox. The runner looks at its lock. */
static int daemon_stays(void)
{
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe2(ready, O_CLOEXEC) < 0)
		return unable("pipe: %m");
	pid = fork();
	if (pid == 0)
		stay(ready[1]);
	close(ready[1]);
	return pid > 0 && read(ready[0], &byte, 1) == 1 ? WORKED : unable("no daemon");
}

const struct attempt host_process_attempts[] = {
	{ "host-signal", signal_host, PLAIN, IN_ALL | IN_HOST },
	{ "host-signal-pidfd", signal_host_by_pidfd, PLAIN, IN_ALL },
	{ "host-visible", see_host, PLAIN, IN_ALL | IN_OPEN | IN_HOST },
	{ "host-ptrace", trace_host, PLAIN, IN_ALL },
	{ "host-memory-copy", copy_memory_of_host, PLAIN, IN_ALL },
	{ "host-memory-write", write_memory_of_host, PLAIN, IN_ALL },
	{ "host-memory-file", memory_of_host, PLAIN, IN_ALL },
	{ "host-descriptor", take_descriptor_of_host, PLAIN, IN_ALL },
	{ "host-environment", environment_of_host, PLAIN, IN_ALL },
	{ "host-priority", slow_down_host, PLAIN, IN_ALL },
	{ "host-affinity", pin_host, PLAIN, IN_ALL },
	{ "host-limits", limit_host, PLAIN, IN_ALL },
	{ "host-io-priority", io_priority_of_host, PLAIN, IN_ALL },
	{ "host-group", group_of_host, PLAIN, IN_ALL },
	/* Not as root: outside it would reach every process of the machine. */
	{ "host-signal-everybody", signal_everybody, PLAIN, IN_USER | IN_HOST, .evidence = true },
	{ "daemon-stays", daemon_stays, PLAIN, 0 },
	{ 0 },
};

const struct attempt init_attempts[] = {
	{ "init-ptrace", trace_init, PLAIN, IN_ALL },
	{ "init-memory-copy", copy_memory_of_init, PLAIN, IN_ALL },
	{ "init-memory-file", memory_of_init, PLAIN, IN_ALL },
	{ "init-descriptor", take_descriptor_of_init, PLAIN, IN_ALL },
	{ "init-environment", environment_of_init, PLAIN, IN_ALL },
	{ "init-maps", maps_of_init, PLAIN, IN_ALL },
	{ "init-auxv", stack_of_init, PLAIN, IN_ALL },
	{ "init-program", program_of_init, PLAIN, IN_ALL },
	{ "init-program-write", write_program_of_init, PLAIN, IN_ALL },
	{ "init-any-writable", any_file_of_init, PLAIN, IN_USER | IN_KEYS },
	{ "init-descriptors", descriptors_of_init, PLAIN, IN_ALL },
	{ "init-directory", directory_of_init, PLAIN, IN_ALL },
	{ "init-namespaces", namespaces_of_init, PLAIN, IN_ALL },
	{ "init-oom-score", oom_of_init, PLAIN, IN_USER },
	{ "init-personality", personality_of_init, PLAIN, IN_ALL },
	{ "init-kill", kill_init, PLAIN, IN_ALL },
	{ "init-stop", stop_init, PLAIN, IN_ALL },
	{ "init-crash", crash_init, PLAIN, IN_ALL },
	{ "init-terminate", terminate_init, PLAIN, IN_ALL },
	{ 0 },
};
