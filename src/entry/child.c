/* SPDX-License-Identifier: MIT */
/* The command, and what PID 1 owes it: its signals, and an end to every orphan. */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "entry/entry.h"
#include "os/proc.h"

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

/* Reaps all that ended; the command's exit status, or -1 while it runs. */
static int reap(pid_t command)
{
	int status, ended = -1;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == command)
			ended = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return ended;
}

int entry_run(char **argv)
{
	struct err err = { 0 };
	pid_t command;
	siginfo_t info;
	sigset_t all;
	int ended = -1;

	fflush(stderr);
	command = fork();
	if (command == 0)
		be_command(argv);
	if (command < 0) {
		err_errno(&err, errno, "fork");
		entry_say("", &err);
		return EXIT_WRAPIX;
	}
	os_set_dumpable(0);
	sigfillset(&all);
	while (ended < 0) {
		if (sigwaitinfo(&all, &info) < 0)
			continue;
		/* What the terminal sends, the command got as well. */
		if (info.si_signo == SIGCHLD)
			ended = reap(command);
		else if (info.si_code != SI_KERNEL)
			kill(command, info.si_signo);
	}
	return ended;
}
