/* SPDX-License-Identifier: MIT */
/*
 * The user's terminal. Each attempt looks for it in one place and changes the size of whatever
 * terminal it finds: the sandbox's own is not the user's, so the runner looks at the user's.
 * The controls keep to the terminal they were given: others belong to people.
 */
#include "selftest/attempt/attempt.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

static int resize(int fd)
{
	struct winsize size = { .ws_row = 11, .ws_col = 37 };

	return outcome(ioctl(fd, TIOCSWINSZ, &size));
}

static int type(int fd)
{
	return outcome(ioctl(fd, TIOCSTI, "x"));
}

static int by_path(const char *path, int (*act)(int))
{
	int fd = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	int r = fd < 0 ? -errno : act(fd);

	if (fd >= 0)
		close(fd);
	return r;
}

static int standard(int (*act)(int))
{
	int r = -ENOTTY;

	for (int fd = 0; fd < 64; fd++) {
		int k = act(fd);

		r = k == WORKED ? WORKED : r == WORKED ? r : k == -EBADF ? r : k;
	}
	return r;
}

static int (*action)(int);

static int of_process(long pid)
{
	int r = -ENOENT;

	for (int fd = 0; fd < 64; fd++) {
		char name[16];
		int k;

		(void)snprintf(name, sizeof(name), "fd/%d", fd);
		k = by_path(proc_path(pid, name), action);
		r = k == WORKED || r == WORKED ? WORKED : k == -ENOENT ? r : k;
	}
	/* not WORKED: the loop over the processes is to go on */
	return r == WORKED ? -EALREADY : r;
}

static int every_pts(int (*act)(int))
{
	int r = -ENOENT;

	if (!inside)
		return ttyname(0) ? by_path(ttyname(0), act) : unable("not on a terminal");
	for (int i = 0; i < 256; i++) {
		char path[32];
		int k;

		(void)snprintf(path, sizeof(path), "/dev/pts/%d", i);
		k = by_path(path, act);
		r = k == WORKED || r == WORKED ? WORKED : k == -ENOENT ? r : k;
	}
	return r;
}

static int every_process(int (*act)(int))
{
	int r;

	action = act;
	r = inside ? for_each_process(of_process) : of_process(getpid());
	return r == -EALREADY ? WORKED : r;
}

static int resize_standard(void)
{
	return standard(resize);
}

static int resize_dev_tty(void)
{
	return by_path("/dev/tty", resize);
}

static int resize_every_pts(void)
{
	return every_pts(resize);
}

static int resize_by_proc(void)
{
	return every_process(resize);
}

static int type_standard(void)
{
	return standard(type);
}

static int type_dev_tty(void)
{
	return by_path("/dev/tty", type);
}

static int type_every_pts(void)
{
	return every_pts(type);
}

static int type_by_proc(void)
{
	return every_process(type);
}

/* The bits above 32 are dropped by the kernel, but were not by some filters. */
static int type_high(int fd)
{
	return outcome(syscall(SYS_ioctl, fd, TIOCSTI | 1UL << 32, "x"));
}

static int type_high_bits(void)
{
	return standard(type_high);
}

const struct attempt terminal_attempts[] = {
	{ "tty-resize-standard", resize_standard, PLAIN, IN_TTY, .evidence = true },
	{ "tty-resize-dev-tty", resize_dev_tty, PLAIN, IN_TTY, .evidence = true },
	{ "tty-resize-every-pts", resize_every_pts, PLAIN, IN_TTY, .evidence = true },
	{ "tty-resize-by-proc", resize_by_proc, PLAIN, IN_TTY, .evidence = true },
	/* Newer kernels leave this to root, so the control is root. */
	{ "tty-type-standard", type_standard, ROOT, IN_TTY },
	{ "tty-type-dev-tty", type_dev_tty, ROOT, IN_TTY },
	{ "tty-type-every-pts", type_every_pts, ROOT, IN_TTY },
	{ "tty-type-by-proc", type_by_proc, ROOT, IN_TTY },
	{ "tty-type-high-bits", type_high_bits, ROOT, IN_TTY },
	{ 0 },
};
