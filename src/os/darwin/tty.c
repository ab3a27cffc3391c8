/* SPDX-License-Identifier: MIT */
/* The other end of a terminal: there is one list of names. */
#include <fcntl.h>
#include <stdlib.h>

#include "os/tty.h"

int tty_peer(int master)
{
	const char *name = ptsname(master);

	return name ? open(name, O_RDWR | O_NOCTTY | O_CLOEXEC) : -1;
}
