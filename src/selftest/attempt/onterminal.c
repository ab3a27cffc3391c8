/* SPDX-License-Identifier: MIT */
/*
 * --on-terminal REPORT COMMAND...: runs the command on a terminal of 80 columns, as the user's would be,
 * copies what it prints, and writes to REPORT what became of that terminal: "same" or "changed".
 * Exits as the command did.
 */
#include "selftest/attempt/attempt.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

_Noreturn static void child(int slave, char **command)
{
	if (setsid() < 0 || ioctl(slave, TIOCSCTTY, 0) < 0)
		_exit(125);
	for (int fd = 0; fd < 3; fd++)
		dup2(slave, fd);
	if (slave > 2)
		close(slave);
	execvp(command[0], command);
	_exit(127);
}

/* What is typed into it must not get between the lines of the command. */
static int no_echo(int fd)
{
	struct termios settings;

	if (tcgetattr(fd, &settings) < 0)
		return -1;
	settings.c_lflag &= ~(tcflag_t)ECHO;
	return tcsetattr(fd, TCSANOW, &settings);
}

static bool has_ended(pid_t pid)
{
	siginfo_t info = { .si_pid = 0 };

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid;
}

/* Until the command is dead and nothing waits in the terminal. A kernel without pidfds is asked now
 * and then. */
static void copy_output(int master, pid_t pid)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd fds[] = { { .fd = master, .events = POLLIN },
				{ .fd = pidfd, .events = POLLIN } };
	char buf[4096];
	ssize_t n;

	while (poll(fds, 2, pidfd < 0 ? 50 : -1) >= 0 || errno == EINTR) {
		if (fds[0].revents & POLLIN) {
			n = read(master, buf, sizeof(buf));
			if (n > 0 && write(STDOUT_FILENO, buf, (size_t)n) < 0)
				return;
		} else if (fds[1].revents || (pidfd < 0 && has_ended(pid))) {
			return;
		}
	}
}

int run_on_terminal(char **args)
{
	struct winsize size = { .ws_row = 24, .ws_col = 80 }, after;
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave, status;
	FILE *report;
	pid_t pid;

	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		return 125;
	slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0 || ioctl(slave, TIOCSWINSZ, &size) < 0 || no_echo(slave) < 0)
		return 125;
	pid = fork();
	if (pid == 0)
		child(slave, args + 1);
	copy_output(master, pid);
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || ioctl(slave, TIOCGWINSZ, &after) < 0)
		return 125;
	report = fopen(args[0], "we");
	if (!report ||
	    fprintf(report, "%s\n",
		    after.ws_col == size.ws_col && after.ws_row == size.ws_row ? "same"
									       : "changed") < 0 ||
	    fclose(report))
		return 125;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
