/* SPDX-License-Identifier: MIT */
/* The user's terminal. */
#include "os/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>

int tty_open(struct tty *tty, int std_fd, struct err *err)
{
	char path[32];

	*tty = (struct tty){ .fd = -1 };
	if (tcgetattr(std_fd, &tty->saved) < 0)
		return err_errno(err, errno, "reading the terminal's settings");
	/*
	 * O_NONBLOCK belongs to the open file description, which the shell shares with us: a second
	 * description of the same terminal leaves the first one as it was.
	 */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", std_fd);
	tty->fd = open(path, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (tty->fd < 0)
		tty->fd = open("/dev/tty", O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (tty->fd < 0)
		return err_errno(err, errno, "opening the terminal");
	return 0;
}

int tty_pair(int *ret_master, int *ret_slave, char *path, size_t size)
{
	_cleanup_close_ int master = posix_openpt(O_RDWR | O_NOCTTY);
	const char *name;
	int slave;

	if (master < 0 || fcntl(master, F_SETFD, FD_CLOEXEC) < 0 || grantpt(master) < 0 ||
	    unlockpt(master) < 0 || !(name = ptsname(master)))
		return -errno;
	if ((size_t)snprintf(path, size, "%s", name) >= size)
		return -ENAMETOOLONG;
	slave = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0)
		return -errno;
	*ret_slave = slave;
	*ret_master = take_fd(&master);
	return 0;
}

void tty_raw(struct tty *tty)
{
	struct termios raw = tty->saved;

	cfmakeraw(&raw);
	if (tcsetattr(tty->fd, TCSADRAIN, &raw) == 0)
		tty->raw = true;
}

void tty_restore(struct tty *tty)
{
	if (tty->fd >= 0 && tty->raw)
		tcsetattr(tty->fd, TCSADRAIN, &tty->saved);
	tty->raw = false;
}

void tty_close(struct tty *tty)
{
	tty_restore(tty);
	if (tty->fd >= 0)
		close(tty->fd);
	tty->fd = -1;
}

void tty_copy_settings(int std_fd, int fd, bool process_output)
{
	struct tty user = { .fd = std_fd };
	struct termios settings;

	if (tcgetattr(std_fd, &settings) < 0)
		return; /* a terminal that has just gone away; its user will not miss them */
	if (!process_output)
		settings.c_oflag &= ~(tcflag_t)OPOST;
	tcsetattr(fd, TCSANOW, &settings);
	tty_copy_size(&user, fd);
}

void tty_copy_size(const struct tty *tty, int master_fd)
{
	struct winsize size;

	if (ioctl(tty->fd, TIOCGWINSZ, &size) == 0)
		ioctl(master_fd, TIOCSWINSZ, &size);
}

int tty_size(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) < 0 ? 0 : TTY_SIZE(size.ws_row, size.ws_col);
}

void tty_set_size(int fd, int size)
{
	const struct winsize window = { .ws_row = (unsigned short)(size >> 16),
					.ws_col = (unsigned short)size };

	if (size > 0)
		ioctl(fd, TIOCSWINSZ, &window);
}
