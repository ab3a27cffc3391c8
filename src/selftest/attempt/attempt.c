/* SPDX-License-Identifier: MIT */
/*
 * wrapix-attempt [--inside] [--userns] [--to=FILE] NAME...: makes the attempts, each in a process of its own with a
 * limit of time, and prints a line for each: "NAME worked|stopped|unable [why]". With one NAME the
 * exit status says the same: 0 worked, 1 stopped, 2 could not be made. --to: into that file instead.
 * wrapix-attempt --list [PLACE]: prints "NAME CONTROL EVIDENCE GROUP" for the attempts of that place.
 * wrapix-attempt --TOOL: what the runner needs beside it, in tools.c.
 */
#include "selftest/attempt/attempt.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"

#define SECONDS 60 /* for one attempt; the slowest takes less than one on a quiet machine */

static const struct {
	const char *name; /* what is attacked, as 'wrapix selftest' and SECURITY.md call it */
	const struct attempt *attempts;
} groups[] = {
	{ "files", file_attempts },
	{ "project-settings", config_attempts },
	{ "devices", device_attempts },
	{ "mounts", mount_attempts },
	{ "namespaces", nested_attempts },
	{ "processes", host_process_attempts },
	{ "pid-1", init_attempts },
	{ "ipc", ipc_attempts },
	{ "rights", privilege_attempts },
	{ "kernel", kernel_attempts },
	{ "system-calls", filter_attempts },
	{ "network", socket_attempts },
	{ "environment", environment_attempts },
	{ "terminal", terminal_attempts },
	{ "limits", limit_attempts },
	{ "keys", key_attempts },
};

static const char *const control_names[] = {
	[PLAIN] = "plain", [USERNS] = "userns", [ROOT] = "root", [PASTA] = "pasta", [LAID] = "laid"
};

static const struct {
	const char *name;
	unsigned place;
} places[] = {
	{ "none", IN_NONE },     { "open", IN_OPEN },       { "host", IN_HOST },
	{ "nested", IN_NESTED }, { "root", IN_ROOT },       { "small", IN_SMALL },
	{ "tty", IN_TTY },       { "offline", IN_OFFLINE }, { "keys", IN_KEYS },
};

static bool own_namespaces; /* --userns */

static const struct attempt *find(const char *name)
{
	for (size_t g = 0; g < ARRAY_LEN(groups); g++)
		for (const struct attempt *a = groups[g].attempts; a->name; a++)
			if (!strcmp(a->name, name))
				return a;
	return NULL;
}

static int list(const char *place)
{
	unsigned mask = place ? 0 : ~0U;

	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		if (place && !strcmp(place, places[i].name))
			mask = places[i].place;
	for (size_t g = 0; g < ARRAY_LEN(groups); g++)
		for (const struct attempt *a = groups[g].attempts; a->name; a++)
			if (a->where & mask)
				printf("%s %s %s %s\n", a->name, control_names[a->control],
				       a->evidence ? "evidence" : "-", groups[g].name);
	return mask ? 0 : 2;
}

static void print_error(int code)
{
	const char *name = err_name(code);

	printf("%s ", name ? name : "?");
}

_Noreturn static void try_it(const struct attempt *a)
{
	int r;

	(void)setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	(void)alarm(SECONDS);
	/* Mounts of one control are not for the next. */
	if (own_namespaces && unshare(CLONE_NEWNS) < 0)
		_exit(2);
	r = a->call ? reaches_kernel(a->call) : a->try();
	if (r < 0 && r != UNABLE)
		print_error(-r);
	(void)fflush(stdout);
	_exit(r == WORKED ? 0 : r == UNABLE ? 2 : 1);
}

/* What the child prints is put at the end of the line. It goes to a file in memory, not to a pipe:
 * a process that the attempt leaves behind would keep that open. */
static int run_one(const struct attempt *a)
{
	static const char *const words[] = { "worked", "stopped", "unable" };
	int out = memfd_create("attempt", MFD_CLOEXEC), status, code;
	char why[512] = "";
	pid_t pid = fork();

	if (pid == 0) {
		dup2(out, STDOUT_FILENO);
		close(out);
		try_it(a);
	}
	if (out < 0 || pid < 0 || waitpid(pid, &status, 0) < 0)
		return 2;
	kill(-pid, SIGKILL); /* what the attempt left running */
	if (pread(out, why, sizeof(why) - 1, 0) < 0)
		why[0] = '\0';
	close(out);
	code = WIFEXITED(status) && WEXITSTATUS(status) <= 2 ? WEXITSTATUS(status) : 2;
	/* A filter may kill; any other death is the attempt's own mistake. */
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
		code = 1;
	printf("%s %s %s", a->name, words[code], why);
	if (WIFSIGNALED(status))
		printf("killed by signal %d", WTERMSIG(status));
	printf("\n");
	(void)fflush(stdout);
	return code;
}

static bool map_ids(uid_t uid, gid_t gid)
{
	char map[64];
	bool done;

	(void)snprintf(map, sizeof(map), "0 %u 1", uid);
	done = write_text("/proc/self/uid_map", map) == WORKED;
	(void)write_text("/proc/self/setgroups", "deny");
	(void)snprintf(map, sizeof(map), "0 %u 1", gid);
	return done && write_text("/proc/self/gid_map", map) == WORKED;
}

/* For the controls: root of namespaces of our own; the parent waits and passes the status on. */
static void enter_userns(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int status;
	pid_t pid;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC |
		    CLONE_NEWPID) < 0 ||
	    !map_ids(uid, gid)) {
		perror("attempt: namespaces for the control");
		_exit(2);
	}
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		own_namespaces = true;
		return;
	}
	_exit(pid > 0 && waitpid(pid, &status, 0) > 0 && WIFEXITED(status) ? WEXITSTATUS(status)
									   : 2);
}

/* Standard output is a file, so that no attempt finds a pipe there. */
static void print_to(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
		_exit(2);
	close(fd);
}

int main(int argc, char **argv)
{
	int code = 2, at = 1;

	if (argc > 1 && !strcmp(argv[1], "--list"))
		return list(argv[2]);
	if (run_tool(argc - 1, argv + 1, &code))
		return code;
	for (; at < argc && argv[at][0] == '-'; at++) {
		if (!strcmp(argv[at], "--inside"))
			inside = true;
		else if (!strcmp(argv[at], "--userns"))
			enter_userns();
		else if (!strncmp(argv[at], "--to=", 5))
			print_to(argv[at] + 5);
	}
	for (; at < argc; at++) {
		const struct attempt *a = find(argv[at]);

		if (a)
			code = run_one(a);
		else
			printf("%s unable (there is no such attempt)\n", argv[at]);
	}
	return code;
}
