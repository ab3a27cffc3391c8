/* SPDX-License-Identifier: MIT */
/* Which addresses are the host's own, asked of the kernel each time: they change while it runs. */
#pragma once

#include "net/address.h"

struct own_addresses {
	int fds[2]; /* UDP sockets, of IPv4 and IPv6; -1: not yet */
};
#define OWN_ADDRESSES_NONE        \
	{                         \
		.fds = { -1, -1 } \
	}

/* For struct address_guard, with the struct as its ctx. No packet is sent. */
bool own_address(void *ctx, const struct address *address);
void own_addresses_release(struct own_addresses *own);
