/* SPDX-License-Identifier: MIT */
/*
 * Covers: the mounts that stand for a denied directory. A mount belongs to the directory and not to its
 * name: when the host moves that away and makes another, nothing covers the new one. So where reads are
 * looked at, it is asked now and then whether the sandbox still sees something else there than the host
 * does, and when it does not, the supervisor decides about each read from then on.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "guard/broker_priv.h"
#include "os/fs.h"

void broker_add_cover(struct broker *b, const char *path, bool passed)
{
	strv_add(&b->arena, &b->covers, path);
	if (passed)
		strv_add(&b->arena, &b->passed, path);
}

/* It may be one that cannot deny the rest by itself. No way is likely to have
 * this name, and then only time is lost. */
static bool is_holed(const struct broker *b, const char *path)
{
	char name[PATH_MAX];

	return snprintf(name, sizeof(name), "%s/\n", path + 1) >= (int)sizeof(name) ||
	       faccessat(b->view, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno == ENOENT;
}

void covers_enter(struct broker *b)
{
	for (size_t i = 0; i < b->passed.len; i++)
		b->holed |= is_holed(b, b->passed.v[i]);
}

/* The caller is in a mount namespace of its own, whose names say nothing of ours. The first that is looked
 * at is the command itself, which has made none yet. */
bool covers_are_others(struct request *r)
{
	char *home = r->b->mounts, now[sizeof(r->b->mounts)];
	ssize_t n;

	if (!r->nested)
		return false;
	n = readlinkat(r->task->proc, "ns/mnt", now, sizeof(now) - 1);
	if (n < 0)
		return true;
	now[n] = '\0';
	if (!*home)
		memcpy(home, now, sizeof(now));
	return strcmp(home, now) != 0;
}

/* Both see the same file: there is no cover. What is out of reach inside has another on its way. */
static bool is_bare(const struct broker *b, const char *path)
{
	struct stat host, inside;

	return fstatat(b->view, path + 1, &inside, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstatat(AT_FDCWD, path, &host, AT_SYMLINK_NOFOLLOW) == 0 &&
	       os_same_file(&host, &inside);
}

void covers_check(struct broker *b)
{
	if (!clock_ticked(&b->covers_seen))
		return;
	for (size_t i = 0; i < b->covers.len; i++)
		if (is_bare(b, b->covers.v[i]))
			b->reads = FILE_READS_ASKED;
}
