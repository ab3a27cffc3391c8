/* SPDX-License-Identifier: MIT */
/* The program that makes a sandbox for us; what it made is the engine's to end. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/client.h"
#include "os/proc.h"
#include "os/tty.h"

/* Its side of the terminal; ours is the master. */
static int open_pty(struct sandbox *sandbox, int *ret_slave, struct err *err)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	const char *name;

	sandbox->pty_master = master;
	if (master < 0 || fcntl(master, F_SETFD, FD_CLOEXEC) < 0 || grantpt(master) < 0 ||
	    unlockpt(master) < 0 || !(name = ptsname(master)))
		return err_errno(err, errno, "making a terminal");
	*ret_slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (*ret_slave < 0)
		return err_errno(err, errno, "opening '%s'", name);
	tty_copy_settings(0, *ret_slave, true);
	return 0;
}

/* In a session of its own: what the user's terminal sends is for us, and we pass it on. With a terminal,
 * what the command writes comes by it, and to standard error goes what the program itself has to say. */
_Noreturn static void client_main(char *const argv[], int slave, enum client_fate fate,
				  pid_t parent)
{
	if (fate == CLIENT_DIES)
		os_die_with_parent(SIGKILL);
	if (getppid() != parent || setsid() < 0)
		_exit(EXIT_WRAPIX);
	if (slave >= 0 &&
	    (ioctl(slave, TIOCSCTTY, 0) < 0 || dup2(slave, 0) < 0 || dup2(slave, 1) < 0))
		_exit(EXIT_WRAPIX);
	os_reset_signals();
	if (fate == CLIENT_FINISHES)
		signal(SIGHUP, SIG_IGN); /* its terminal goes with us */
	os_close_all_but(3, NULL, 0);
	execv(argv[0], argv);
	_exit(EXIT_WRAPIX);
}

int client_start(struct sandbox *sandbox, char *const argv[], bool has_tty, enum client_fate fate,
		 struct err *err)
{
	_cleanup_close_ int slave = -1;
	pid_t parent = getpid();
	int r = has_tty ? open_pty(sandbox, &slave, err) : 0;

	if (r < 0)
		return r;
	sandbox->pid = fork();
	if (sandbox->pid == 0)
		client_main(argv, slave, fate, parent);
	if (sandbox->pid < 0)
		return err_errno(err, errno, "starting '%s'", argv[0]);
	sandbox->pidfd = os_pidfd_open(sandbox->pid);
	return sandbox->pidfd < 0 ? err_errno(err, -sandbox->pidfd, "watching '%s'", argv[0]) : 0;
}

bool client_end(struct sandbox *sandbox)
{
	if (sandbox->pid <= 0)
		return false;
	kill(sandbox->pid, SIGKILL);
	(void)os_await(sandbox->pid);
	return true;
}
