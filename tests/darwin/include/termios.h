/* SPDX-License-Identifier: MIT */
/* Of macOS, what the tree uses: declarations only, for the check that it compiles there. */
#pragma once

#include <sys/types.h>
#include <sys/ioctl.h>
typedef unsigned long tcflag_t;
typedef unsigned char cc_t;
typedef unsigned long speed_t;
#define NCCS 20
struct termios {
	tcflag_t c_iflag, c_oflag, c_cflag, c_lflag;
	cc_t c_cc[NCCS];
	speed_t c_ispeed, c_ospeed;
};
#define OPOST 1
#define ONLCR 2
#define ICRNL 0x100
#define IXON 0x200
#define ECHO 8
#define ECHONL 0x10
#define ISIG 0x80
#define ICANON 0x100
#define IEXTEN 0x400
#define VMIN 16
#define VTIME 17
#define VINTR 8
#define VEOF 0
#define TCSANOW 0
#define TCSADRAIN 1
#define TCSAFLUSH 2
#define TCIFLUSH 1
int tcgetattr(int, struct termios *);
int tcsetattr(int, int, const struct termios *);
int tcflush(int, int);
int tcdrain(int);
void cfmakeraw(struct termios *);
pid_t tcgetsid(int);
