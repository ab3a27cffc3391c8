/* SPDX-License-Identifier: MIT */
/* Rights that a process has, or gets back, by its own means. */
#include "selftest/attempt/attempt.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* A number in /proc/self/status. */
static unsigned long long status_of(const char *key, int base)
{
	FILE *f = fopen("/proc/self/status", "re");
	unsigned long long value = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)) && line[strlen(key)] == ':')
			value = strtoull(line + strlen(key) + 1, NULL, base);
	if (f)
		(void)fclose(f);
	return value;
}

static int capabilities(const char *set)
{
	return status_of(set, 16) ? WORKED : -EPERM;
}

static int effective(void)
{
	return capabilities("CapEff");
}

static int permitted(void)
{
	return capabilities("CapPrm");
}

static int bounding(void)
{
	return capabilities("CapBnd");
}

/* Both need one that is permitted. */
static int raise_inheritable(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { .permitted = 1, .inheritable = 1 } };

	return outcome(syscall(SYS_capset, &header, data));
}

static int raise_ambient(void)
{
	int r = raise_inheritable();

	return r < 0 ? r : outcome(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 0, 0, 0));
}

static int new_privileges(void)
{
	return status_of("NoNewPrivs", 10) ? -EPERM : WORKED;
}

static int no_filter(void)
{
	return status_of("Seccomp", 10) ? -EPERM : WORKED;
}

/* A process that starts a setuid program and looks at the ids it got. */
static int ids_after(const char *program, char *const argv[])
{
	int done[2], hold[2], euid = -1, ruid = -1;
	char line[256], byte;
	pid_t pid;
	FILE *f;

	if (pipe2(done, O_CLOEXEC) < 0 || pipe2(hold, O_CLOEXEC) < 0)
		return unable("pipe: %m");
	pid = fork();
	if (pid == 0) {
		dup2(hold[0], STDIN_FILENO);
		dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
		dup2(STDOUT_FILENO, STDERR_FILENO);
		(void)setsid();
		execv(program, argv);
		ignore(write(done[1], "x", 1));
		_exit(127);
	}
	close(done[1]);
	if (read(done[0], &byte, 1) == 1)
		return unable("%s does not start", program);
	/* It waits for its input, or is a zombie that still shows its ids. */
	f = fopen(proc_path(pid, "status"), "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Uid: %d %d", &ruid, &euid) == 2)
			break;
	kill(pid, SIGKILL);
	return euid < 0 ? unable("no ids") : euid != ruid ? WORKED : -EPERM;
}

static int setuid_of_system(void)
{
	static const char *const programs[] = { "/usr/bin/su",    "/bin/su",    "/usr/bin/passwd",
						"/usr/bin/mount", "/bin/mount", "/usr/bin/sudo" };

	for (size_t i = 0; i < ARRAY_LEN(programs); i++)
		if (access(programs[i], X_OK) == 0)
			return ids_after(programs[i], (char *[]){ (char *)programs[i], NULL });
	return unable("no setuid program");
}

static int rights_of(const char *program)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		execl(program, program, "--rights", NULL);
		_exit(errno == EPERM || errno == EACCES ? 1 : 2);
	}
	if (waitpid(pid, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) > 1)
		return unable("%s does not run", program);
	return WEXITSTATUS(status) == 0 ? WORKED : -EPERM;
}

/* A program for others, by which they would be who runs the sandbox. */
static int make_setuid(void)
{
	static const char name[] = "made-setuid";
	int fd = open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0755), r;
	struct stat st;

	if (fd < 0)
		return unable("a file in the project: %m");
	ignore(write(fd, "#!/bin/sh\n", 10));
	r = outcome(fchmod(fd, 04755));
	if (r == WORKED && (fstat(fd, &st) < 0 || !(st.st_mode & S_ISUID)))
		r = -EPERM;
	close(fd);
	unlink(name);
	return r;
}

/* The runner put these in the project, as root. */
static int setuid_in_project(void)
{
	return rights_of("./setuid-root");
}

static int capable_in_project(void)
{
	return rights_of("./capable");
}

static int become_root(void)
{
	return outcome(setresuid(0, 0, 0));
}

static int become_other(void)
{
	return outcome(setresuid(12345, 12345, 12345));
}

static int other_groups(void)
{
	gid_t group = 12345;

	return outcome(syscall(SYS_setgroups, 1, &group));
}

static int host_name(void)
{
	return outcome(sethostname("escaped", 7));
}

/* A time zone of zero changes nothing, and needs the right to set the clock. */
static int clock(void)
{
	struct timezone zone = { 0 };

	return outcome(syscall(SYS_settimeofday, NULL, &zone));
}

static int priority(void)
{
	return outcome(setpriority(PRIO_PROCESS, 0, -10));
}

static int executable_data(void)
{
	return outcome(personality(READ_IMPLIES_EXEC));
}

static int core_dumps(void)
{
	struct rlimit limit = { 1 << 20, 1 << 20 };

	return outcome(setrlimit(RLIMIT_CORE, &limit));
}

/* A file that only the machine's root may read, in the project. */
static int roots_file(void)
{
	return read_secret("root-file");
}

const struct attempt privilege_attempts[] = {
	{ "rights-effective", effective, USERNS, IN_ALL | IN_OPEN | IN_HOST },
	{ "rights-permitted", permitted, USERNS, IN_ALL },
	{ "rights-bounding", bounding, PLAIN, IN_ALL | IN_OPEN | IN_HOST },
	{ "rights-raise-inheritable", raise_inheritable, USERNS, IN_ALL },
	{ "rights-raise-ambient", raise_ambient, USERNS, IN_ALL },
	{ "rights-new-privileges", new_privileges, PLAIN, IN_ALL | IN_OPEN | IN_HOST },
	{ "rights-no-filter", no_filter, PLAIN, IN_ALL | IN_OPEN | IN_HOST },
	{ "rights-setuid-system", setuid_of_system, PLAIN, IN_USER },
	{ "rights-setuid-project", setuid_in_project, LAID, IN_USER },
	{ "rights-file-capabilities", capable_in_project, LAID, IN_USER },
	{ "rights-make-setuid", make_setuid, PLAIN, IN_ALL | IN_OPEN | IN_HOST },
	{ "rights-become-root", become_root, ROOT, IN_USER },
	{ "rights-become-other", become_other, ROOT, IN_ALL },
	{ "rights-groups", other_groups, ROOT, IN_ALL },
	{ "rights-root-file", roots_file, ROOT, IN_USER },
	{ "rights-host-name", host_name, USERNS, IN_ALL },
	{ "rights-clock", clock, ROOT, IN_ALL },
	{ "rights-priority", priority, ROOT, IN_ALL },
	{ "rights-personality", executable_data, PLAIN, IN_ALL },
	{ "rights-core-dumps", core_dumps, PLAIN, IN_ALL },
	{ 0 },
};
