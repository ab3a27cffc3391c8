/* SPDX-License-Identifier: MIT */
/*
 * Directories that were looked into lately. A call that is let go on whatever is found, because the mounts
 * decide, is looked at for the report alone, and most such calls come from a few directories: of these it is
 * remembered where they are, so that one look at the name is enough.
 *
 * What is remembered may be no longer so, and is only used where being wrong costs a report. It is forgotten
 * with every call that could make a path lead elsewhere, and with each tick of the kernel's clock, because
 * the host may do so unseen. Only a path without links is remembered, and from the second time on where a look at the
 * whole path is cheaper than one at the directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>

#include "guard/broker_priv.h"
#include "os/fs.h"
#include "os/linux/files.h"

enum { SEEN_ONCE, SEEN, SEEN_USELESS };

static void drop(struct seen *seen)
{
	if (seen->path)
		close_ptr(&seen->fd);
	free(seen->path);
	seen->path = NULL;
}

void seen_forget(struct broker *b)
{
	b->seen_round++;
}

void seen_release(struct broker *b)
{
	for (size_t i = 0; i < BROKER_SEEN; i++)
		drop(&b->seen[i]);
}

bool clock_ticked(struct timespec *at)
{
	const struct timespec before = *at;

	clock_gettime(CLOCK_MONOTONIC_COARSE, at);
	return before.tv_sec != at->tv_sec || before.tv_nsec != at->tv_nsec;
}

/* By its one name, and not in /proc, where a name means something else to each caller. */
static void look(struct broker *b, struct seen *seen)
{
	char real[PATH_MAX];
	struct statfs fs;

	seen->state = SEEN_USELESS;
	seen->fd = os_openat2(b->view, seen->path, O_PATH | O_DIRECTORY, 0,
			      RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS);
	if (seen->fd < 0 || fstatfs(seen->fd, &fs) < 0 || fs.f_type == PROC_SUPER_MAGIC ||
	    place_path(b, seen->fd, real) <= 0 || strcmp(real, seen->path) != 0)
		return;
	seen->readonly = fs.f_flags & ST_RDONLY;
	seen->state = SEEN;
}

/* The directory's slot, and whether it was in it since the last change. */
static struct seen *find_slot(struct broker *b, const char *path, size_t len, bool *ret_known)
{
	struct seen *seen = &b->seen[place_hash(path, len) % BROKER_SEEN];

	*ret_known = seen->path && seen->round == b->seen_round && seen->len == len &&
		     !memcmp(seen->path, path, len);
	return seen;
}

const struct seen *seen_find(struct request *r, const char *path, bool at_once,
			     const char **ret_name)
{
	const char *name = strrchr(path, '/');
	size_t len = name ? (size_t)(name - path) : 0;
	struct broker *b = r->b;
	struct seen *seen;
	bool known;

	if (r->nested || path[0] != '/' || len == 0 || !name[1] || strlen(name + 1) > NAME_MAX ||
	    !strcmp(name, "/.") || !strcmp(name, "/.."))
		return NULL;
	if (clock_ticked(&b->seen_at))
		seen_forget(b);
	seen = find_slot(b, path, len, &known);
	if (!known) {
		drop(seen);
		*seen = (struct seen){ .path = strndup(path, len), .len = len, .fd = -1 };
		seen->round = b->seen_round;
	}
	if (seen->state == SEEN_ONCE && (known || at_once))
		look(b, seen);
	*ret_name = name + 1;
	return seen->state == SEEN ? seen : NULL;
}
