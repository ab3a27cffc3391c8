/* SPDX-License-Identifier: MIT */
/* Of macOS, what the tree uses: declarations only, for the check that it compiles there. */
#pragma once

#define TCP_NODELAY 0x01
#define TCP_MAXSEG 0x02
#define TCP_NOPUSH 0x04
#define TCP_KEEPALIVE 0x10
#define TCP_NOTSENT_LOWAT 0x201
