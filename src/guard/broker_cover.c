/* SPDX-License-Identifier: MIT */
/*
 * Covers: the mounts that stand for a denied directory. A mount belongs to the directory and not to its
 * name: when the host moves that away and makes another, nothing covers the new one. So where reads are
 * looked at, it is asked now and then whether the sandbox still sees something else there than the host
 * does, and when it does not, the supervisor decides about each read from then on.
 */
#include <errno.h>
#include <fcntl.h>
#include <time.h>

#include "guard/broker_priv.h"

void broker_add_cover(struct broker *b, const char *path, bool holed)
{
	strv_add(&b->arena, &b->covers, path);
	b->holed |= holed;
}

/* Both see the same file: there is no cover. What is out of reach inside has another on its way. */
static bool is_bare(const struct broker *b, const char *path)
{
	struct stat host, inside;

	return fstatat(b->view, path + 1, &inside, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstatat(AT_FDCWD, path, &host, AT_SYMLINK_NOFOLLOW) == 0 &&
	       host.st_ino == inside.st_ino && host.st_dev == inside.st_dev;
}

/* With each tick of the kernel's clock, a few milliseconds. */
void covers_check(struct broker *b)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	if (b->covers_seen.tv_sec == now.tv_sec && b->covers_seen.tv_nsec == now.tv_nsec)
		return;
	b->covers_seen = now;
	for (size_t i = 0; i < b->covers.len; i++)
		if (is_bare(b, b->covers.v[i]))
			b->reads = FILE_READS_ASKED;
}
