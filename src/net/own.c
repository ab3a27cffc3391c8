/* SPDX-License-Identifier: MIT */
/* An address is the host's own when the kernel would send from it to reach it. */
#include "net/own.h"

bool own_address(void *ctx, const struct address *address)
{
	/* A socket that is connected again keeps its own address, unless it is let go first. */
	const struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct own_addresses *o = ctx;
	struct sockaddr_storage to, from;
	socklen_t to_len = address_to_sockaddr(address, 9, &to), from_len = sizeof(from);
	int *fd = &o->fds[to.ss_family == AF_INET6];
	struct address own;

	if (*fd < 0)
		*fd = socket(to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return *fd >= 0 && connect(*fd, &none, sizeof(none)) == 0 &&
	       connect(*fd, (struct sockaddr *)&to, to_len) == 0 &&
	       getsockname(*fd, (struct sockaddr *)&from, &from_len) == 0 &&
	       address_from_sockaddr((struct sockaddr *)&from, &own, NULL) &&
	       address_equal(&own, address);
}

void own_addresses_release(struct own_addresses *o)
{
	for (size_t i = 0; i < ARRAY_LEN(o->fds); i++)
		if (o->fds[i] >= 0)
			close(o->fds[i]);
	*o = (struct own_addresses)OWN_ADDRESSES_NONE;
}
