/* SPDX-License-Identifier: MIT */
/* The command, and what PID 1 owes it: its signals, and an end to every orphan. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "entry/entry.h"
#include "entry/link.h"
#include "os/proc.h"
#include "os/signals.h"

_Noreturn static void be_command(char **argv)
{
	struct err err = { 0 };
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(argv[0], argv);
	err_errno(&err, errno, "executing '%s'", argv[0]);
	entry_say("", &err);
	_exit(err.code == ENOENT || err.code == ENOTDIR ? EXIT_NOTFOUND : EXIT_NOEXEC);
}

static void tell(int link, enum link_type type, int value)
{
	struct link_message message = { (unsigned char)type, (unsigned char)value };

	/* Without a supervisor the other direction has ended, too. */
	if (link >= 0 && send(link, &message, sizeof(message), MSG_NOSIGNAL) < 0)
		return;
}

/* Reaps all that ended; the command's exit status, or -1 while it runs. */
static int reap(pid_t command, int link)
{
	int status, ended = -1;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | (link >= 0 ? WUNTRACED | WCONTINUED : 0))) > 0)
		if (pid == command && WIFSTOPPED(status))
			tell(link, LINK_STOPPED, WSTOPSIG(status));
		else if (pid == command && WIFCONTINUED(status))
			tell(link, LINK_CONTINUED, 0);
		else if (pid == command)
			ended = os_exit_code(status);
	return ended;
}

static int on_signal(pid_t command, int link)
{
	const struct timespec none = { 0 };
	siginfo_t info;
	sigset_t all;
	int ended = -1;

	sigfillset(&all);
	while (sigtimedwait(&all, &info, &none) > 0)
		/* What the terminal sends, the command got as well. */
		if (info.si_signo == SIGCHLD)
			ended = reap(command, link);
		else if (info.si_code != SI_KERNEL)
			kill(command, info.si_signo);
	return ended;
}

/* False: the supervisor is gone. */
static bool on_link(int link, pid_t command)
{
	struct link_message message;
	ssize_t n = recv(link, &message, sizeof(message), MSG_WAITALL);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (n != sizeof(message))
		return false;
	if (message.type == LINK_SIGNAL)
		kill(command, message.value);
	return true;
}

/* Until the command ends: its exit status. */
static int attend(pid_t command, int signals, int link)
{
	struct pollfd fds[] = { { .fd = signals, .events = POLLIN },
				{ .fd = link, .events = POLLIN } };
	int ended = -1;

	while (ended < 0) {
		if (poll(fds, ARRAY_LEN(fds), -1) < 0 && errno != EINTR)
			return EXIT_WRAPIX;
		if (fds[1].revents && !on_link(link, command)) {
			kill(-1, SIGKILL);
			return 128 + SIGKILL;
		}
		ended = on_signal(command, link);
	}
	return ended;
}

/* For a supervisor that has no link: that we came as far as this. */
static void leave_mark(const char *path)
{
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644) : -1;

	if (fd >= 0)
		close(fd);
}

int entry_run(char **argv, int link, const char *mark)
{
	struct err err = { 0 };
	pid_t command = -1;
	sigset_t all;
	int signals, ended;

	sigfillset(&all);
	signals = os_signals_open(&all);
	fflush(stderr);
	if (signals >= 0)
		command = fork();
	if (command == 0)
		be_command(argv);
	if (command < 0) {
		err_errno(&err, errno, "starting '%s'", argv[0]);
		entry_say("", &err);
		return EXIT_WRAPIX;
	}
	os_set_dumpable(0);
	leave_mark(mark);
	tell(link, LINK_RUNNING, 0);
	ended = attend(command, signals, link);
	tell(link, LINK_EXITED, ended);
	return ended;
}
