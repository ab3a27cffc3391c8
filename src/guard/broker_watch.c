/* SPDX-License-Identifier: MIT */
/*
 * A broker that only watches: what may be written is mounted so, and the kernel does and refuses everything
 * itself. Each call that changes a file is looked at on its way, and one that is going to be refused because a mount
 * is read-only is told of. Whatever is found the call goes on, so the caller gains nothing by showing something else.
 *
 * Nearly all of them are to places that can be written. Here it is seen as cheaply as can be that one is, by the mount
 * that it lies on: the sandbox's mounts stay as they are. Only what is not so plain (a link, a mount of its own, a
 * read-only directory) is looked at as a broker does that decides.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/statvfs.h>

#include "guard/broker_priv.h"

enum spot {
	SPOT_WRITABLE,
	SPOT_ABSENT,
	SPOT_UNKNOWN, /* read-only, perhaps; or a link, which leads elsewhere */
};

static enum spot look(const struct broker *b, int dir, const char *name, int flags)
{
	struct statx st;

	if (statx(dir, name, AT_NO_AUTOMOUNT | AT_EMPTY_PATH | flags, STATX_TYPE | STATX_MNT_ID,
		  &st) < 0)
		return errno == ENOENT ? SPOT_ABSENT : SPOT_UNKNOWN;
	if (!(st.stx_mask & STATX_MNT_ID) || S_ISLNK(st.stx_mode))
		return SPOT_UNKNOWN;
	for (size_t i = 0; i < ARRAY_LEN(b->writable); i++)
		if (b->writable[i] == st.stx_mnt_id)
			return SPOT_WRITABLE;
	return SPOT_UNKNOWN;
}

/* The mount's number is remembered where it can be written. */
static bool learn(struct broker *b, int dir)
{
	struct statvfs fs;
	struct statx st;

	if (fstatvfs(dir, &fs) < 0 || (fs.f_flag & ST_RDONLY) ||
	    statx(dir, "", AT_EMPTY_PATH, STATX_MNT_ID, &st) < 0 || !(st.stx_mask & STATX_MNT_ID))
		return false;
	b->writable[b->n_writable++ % ARRAY_LEN(b->writable)] = st.stx_mnt_id;
	return true;
}

/* What is not there yet would lie where its directory does. */
static bool spot_passes(const struct broker *b, int dir, const char *name, int at, const char *own)
{
	enum spot spot = look(b, dir, name, AT_SYMLINK_NOFOLLOW);

	return (spot == SPOT_ABSENT ? look(b, at, own, 0) : spot) == SPOT_WRITABLE;
}

/* In a directory that the caller has, which need not be opened for this. */
static bool single_passes(struct request *r, int dirfd, const char *name)
{
	char dir[24] = "cwd/.", path[sizeof(dir) + NAME_MAX];

	if (strlen(name) > NAME_MAX)
		return false;
	if (dirfd != AT_FDCWD)
		snprintf(dir, sizeof(dir), "fd/%d/.", dirfd);
	snprintf(path, sizeof(path), "%.*s%.*s", (int)strlen(dir) - 1, dir, NAME_MAX, name);
	return spot_passes(r->b, r->task->proc, path, r->task->proc, dir);
}

static bool way_passes(struct request *r, int dirfd, const char *path)
{
	_cleanup_place_ struct place p = PLACE_NONE;
	char name[NAME_MAX + 2];

	if (place_find(r, dirfd, path, 0, &p) != 0 || !*p.name || p.object >= 0)
		return false;
	place_bare_name(&p, name);
	return spot_passes(r->b, p.view, name, p.view, "") ||
	       (learn(r->b, p.view) && spot_passes(r->b, p.view, name, p.view, ""));
}

static bool name_passes(struct request *r, int dir_arg, int path_arg)
{
	int dirfd = dir_arg < 0 ? AT_FDCWD : (int)request_arg(r, dir_arg);
	char path[PATH_MAX];

	return request_read_path(r, path_arg, path) > 0 &&
	       ((!strchr(path, '/') && single_passes(r, dirfd, path)) ||
		way_passes(r, dirfd, path));
}

static bool file_passes(struct request *r, int number)
{
	char name[24];

	snprintf(name, sizeof(name), "fd/%d", number);
	return look(r->b, r->task->proc, name, 0) == SPOT_WRITABLE;
}

bool watch_passes(struct request *r)
{
	const struct row *row = r->row;

	if (row->fn == do_bind) /* the name is in memory */
		return false;
	if (row->path < 0 || (row->fn == do_utime && !request_arg(r, row->path)))
		return file_passes(r, (int)request_arg(r, row->dir));
	return name_passes(r, row->dir, row->path) &&
	       (row->path2 < 0 || name_passes(r, row->dir2, row->path2));
}
