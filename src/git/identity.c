/* SPDX-License-Identifier: MIT */
/*
 * Which directory a git directory is: its number and when it was made; where that is not kept, the device. One that was
 * removed and another that was made at its place are told apart by it. And when a file was made.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "git/priv.h"

static void identity_at(int dir_fd, const char *name, char ret[GIT_IDENTITY])
{
	struct statx st;

	*ret = '\0';
	if (statx(dir_fd, name, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &st) <
	    0)
		return;
	if (st.stx_mask & STATX_BTIME)
		snprintf(ret, GIT_IDENTITY, "%llu:%lld.%09u", (unsigned long long)st.stx_ino,
			 (long long)st.stx_btime.tv_sec, st.stx_btime.tv_nsec);
	else
		snprintf(ret, GIT_IDENTITY, "%llu:%x:%x", (unsigned long long)st.stx_ino,
			 st.stx_dev_major, st.stx_dev_minor);
}

void git_identity(const char *dir, char ret[GIT_IDENTITY])
{
	identity_at(AT_FDCWD, dir, ret);
}

bool git_has_identity(int dir_fd, const char *name, const char *identity)
{
	char now[GIT_IDENTITY];

	if (!identity || !*identity)
		return true;
	identity_at(dir_fd, name, now);
	return !strcmp(now, identity);
}

bool git_born(int fd, struct timespec *ret)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &st) < 0 || !(st.stx_mask & STATX_BTIME))
		return false;
	*ret = (struct timespec){ .tv_sec = st.stx_btime.tv_sec, .tv_nsec = st.stx_btime.tv_nsec };
	return true;
}

void git_clock(struct timespec *ret)
{
	clock_gettime(CLOCK_REALTIME_COARSE, ret);
}
