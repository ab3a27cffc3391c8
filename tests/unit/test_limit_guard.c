/* SPDX-License-Identifier: MIT */
/* How much of a range is private memory, by the lines of /proc/PID/maps. */
#include "guard/limits.h"
#include "lib/tap.h"

static const char maps[] = "1000-3000 r-xp 00000000 08:01 12 /bin/x\n"
			   "3000-4000 rw-p 00002000 08:01 12 /bin/x\n"
			   "4000-8000 ---p 00000000 00:00 0\n"
			   "8000-9000 rw-s 00000000 00:01 7 /dev/zero (deleted)\n"
			   "9000-a000 rw-p 00000000 00:00 0 [heap]\n"
			   "ffff0000-ffff1000 --xp 00000000 00:00 0 [odd]";

int main(void)
{
	is_int((long long)limits_private(maps, 0x4000, 0x8000, false), 0x4000, "a reservation");
	is_int((long long)limits_private(maps, 0x5000, 0x6000, false), 0x1000, "a part of it");
	is_int((long long)limits_private(maps, 0x3000, 0x5000, false), 0x1000,
	       "what is writable is not more");
	is_int((long long)limits_private(maps, 0x3000, 0x5000, true), 0x1000, "but by itself");
	is_int((long long)limits_private(maps, 0x8000, 0x9000, true), 0,
	       "what is shared does not count");
	is_int((long long)limits_private(maps, 0, UINT64_MAX, false), 0x7000, "all of it");
	is_int((long long)limits_private(maps, 0xa000, 0xb000, false), 0, "nothing is there");
	is_int((long long)limits_private("", 0, 1, false), 0, "no lines");
	is_int((long long)limits_private("x\n\n1-\n", 0, UINT64_MAX, false), 0, "no such lines");
	return done();
}
