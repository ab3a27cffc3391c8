/* SPDX-License-Identifier: MIT */
/* The user's pager, for output that is longer than a screen. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/cow.h"
#include "os/proc.h"

/* A shell reads PAGER, as everywhere: it is the user's own variable. */
_Noreturn static void be_pager(int in)
{
	const char *pager = getenv("PAGER");

	os_reset_signals();
	dup2(in, STDIN_FILENO);
	os_close_all_but(3, NULL, 0);
	setenv("LESS", "FRX", 0);
	execl("/bin/sh", "sh", "-c", pager && *pager ? pager : "less", (char *)NULL);
	_exit(127);
}

void pager_start(struct pager *pager)
{
	struct arena arena = { 0 };
	const char *wanted = getenv("PAGER"), *term = getenv("TERM");
	int fds[2];

	*pager = (struct pager){ 0 };
	if (!isatty(STDOUT_FILENO) || (wanted && !strcmp(wanted, "cat")))
		return;
	/* less stops to complain of a terminal that can do nothing. */
	if (!(wanted && *wanted) && (!term || !strcmp(term, "dumb") ||
				     !os_find_program(&arena, "less", getenv("PATH"), NULL))) {
		arena_release(&arena);
		return;
	}
	arena_release(&arena);
	if (pipe2(fds, O_CLOEXEC) < 0)
		return;
	pager->pid = fork();
	if (pager->pid == 0)
		be_pager(fds[0]);
	if (pager->pid > 0) {
		signal(SIGPIPE, SIG_IGN); /* it may end before we do */
		dup2(fds[1], STDOUT_FILENO);
	}
	close(fds[0]);
	close(fds[1]);
}

void pager_stop(struct pager *pager)
{
	int null;

	if (pager->pid <= 0)
		return;
	fflush(stdout);
	clearerr(stdout);
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	dup2(null, STDOUT_FILENO);
	close(null);
	(void)os_await(pager->pid);
}
