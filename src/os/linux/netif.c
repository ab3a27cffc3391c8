/* SPDX-License-Identifier: MIT */
/* Interfaces and settings of the calling process's network namespace. */
#include "os/linux/netif.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

int netif_loopback_up(struct err *err)
{
	/* An AF_UNIX socket carries interface ioctls too, and a kernel without IPv4 has it. */
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq req = { .ifr_flags = IFF_UP | IFF_RUNNING };

	memcpy(req.ifr_name, "lo", sizeof("lo"));
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &req) < 0)
		return err_errno(err, errno, "bringing the loopback interface up");
	return 0;
}

void netif_set(const char *path, const char *value)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, value, strlen(value)) < 0) {
		/* As the header says. */
	}
}
