/* SPDX-License-Identifier: MIT */
/* The other end of a terminal whose name may mean another one here. */
#include <fcntl.h>
#include <sys/ioctl.h>

#include "os/tty.h"

#ifndef TIOCGPTPEER
#define TIOCGPTPEER _IO('T', 0x41)
#endif

int tty_peer(int master)
{
	return ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
}
