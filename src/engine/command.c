/* SPDX-License-Identifier: MIT */
/* Executing the command, in the process that becomes it; and what its parent does. All engines' programs have this one. */
#include "engine/command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "os/proc.h"

/* Executes one file; a script without a first line goes to the shell, as users expect, but a binary
 * for another machine does not. Returns the errno. */
static int try_exec(const char *file, char *const argv[], char *const env[])
{
	_cleanup_free_ char **words = NULL;
	_cleanup_close_ int fd = -1;
	char magic[4] = "";
	size_t n = 0;
	int code;

	execve(file, argv, env);
	code = errno;
	fd = code == ENOEXEC ? open(file, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return code;
	if (read(fd, magic, sizeof(magic)) < 2 || !memcmp(magic, "\177ELF", 4) || !magic[0])
		return code;
	while (argv[n])
		n++;
	words = calloc(n + 2, sizeof(*words));
	if (!words)
		return ENOMEM;
	words[0] = (char *)"sh";
	words[1] = (char *)file;
	memcpy(words + 2, argv + 1, (n - 1) * sizeof(*words));
	execve("/bin/sh", words, env);
	return errno;
}

/* Looks the command up as a shell would: a file that may not be executed is passed by, and is the reason only
 * where nothing else is found. */
static int search_path(char *const argv[], char *const env[])
{
	const char *p = OS_USUAL_PATH;
	int code = ENOENT;

	for (size_t i = 0; env[i]; i++)
		if (!strncmp(env[i], "PATH=", 5))
			p = env[i] + 5;
	while (*p) {
		size_t len = strcspn(p, ":");
		char file[PATH_MAX];
		int r;

		if (snprintf(file, sizeof(file), "%.*s/%s", (int)len, len ? p : ".", argv[0]) <
		    (int)sizeof(file)) {
			r = try_exec(file, argv, env);
			if (r != ENOENT && r != ENOTDIR && r != EACCES)
				return r;
			/* Not where a directory of PATH is somebody else's. */
			if (r == EACCES && !access(file, F_OK))
				code = EACCES;
		}
		p += len + (p[len] == ':');
	}
	return code;
}

int exec_command(char *const argv[], char *const env[])
{
	return strchr(argv[0], '/') ? try_exec(argv[0], argv, env) : search_path(argv, env);
}

void signal_command(pid_t command, int signal_no)
{
	bool group = signal_no == SIGINT || signal_no == SIGQUIT || signal_no == SIGCONT ||
		     signal_no == SIGSTOP;

	kill(group ? -command : command, signal_no);
}

bool reap_command(pid_t command, int *ret_status)
{
	pid_t pid;

	do
		pid = waitpid(-1, ret_status, WNOHANG | WUNTRACED | WCONTINUED);
	while (pid > 0 && pid != command);
	return pid > 0;
}
