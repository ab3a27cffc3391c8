/* SPDX-License-Identifier: MIT */
/* Of macOS, what the tree uses: declarations only, for the check that it compiles there. */
#pragma once

#include <sys/socket.h>
struct sockaddr_un {
	unsigned char sun_len;
	sa_family_t sun_family;
	char sun_path[104];
};
#define SOL_LOCAL 0
#define LOCAL_PEERCRED 0x001
#define LOCAL_PEERPID 0x002
