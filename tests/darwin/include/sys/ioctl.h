/* SPDX-License-Identifier: MIT */
/* Of macOS, what the tree uses: declarations only, for the check that it compiles there. */
#pragma once

struct winsize {
	unsigned short ws_row, ws_col, ws_xpixel, ws_ypixel;
};
#define TIOCGWINSZ 0x40087468
#define TIOCSWINSZ 0x80087467
#define TIOCSCTTY 0x20007461
#define TIOCNOTTY 0x20007471
#define TIOCSTI 0x80017472
#define FIONREAD 0x4004667f
#define FIONBIO 0x8004667e
#define _IOW(group, number, type) \
	(0x80000000UL | ((sizeof(type) & 0x1fff) << 16) | ((group) << 8) | (number))
int ioctl(int, unsigned long, ...);
