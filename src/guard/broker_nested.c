/* SPDX-License-Identifier: MIT */
/*
 * Places of callers that have mounts of their own (--allow-nested): a sandbox inside the sandbox shows a part
 * of the project under another name. Its mount table says which part of the file system that is, ours
 * says the same of the writable place, and so the host's name of it is known. All of this is a guess to
 * whoever uses it: the place that is found must be the same directory, and the rules see that place.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "guard/broker_priv.h"
#include "os/fs.h"
#include "os/linux/mountinfo.h"

#define MOUNTS_MAX ((size_t)4 << 20)

/* The root and the point of that mount. */
static bool find_mount(char *table, uint64_t id, struct mountinfo *ret)
{
	while (mountinfo_next(&table, ret))
		if (ret->id == id)
			return true;
	return false;
}

/* What the file system itself calls the open file, whose path is given; by the table in 'proc'. */
static bool name_in_fs(int proc, int fd, const char *path, char buf[PATH_MAX])
{
	_cleanup_free_ char *table = NULL;
	struct mountinfo mount;
	const char *below;
	struct statx st;
	size_t len;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &st) < 0 || !(st.stx_mask & STATX_MNT_ID) ||
	    os_read_file_at(proc, "mountinfo", MOUNTS_MAX, &table, &len) < 0 ||
	    !find_mount(table, st.stx_mnt_id, &mount))
		return false;
	below = path_below(path, mount.point);
	if (!below)
		return false;
	return snprintf(buf, PATH_MAX, "%s%s%s", strcmp(mount.root, "/") ? mount.root : "",
			*below ? "/" : "", below) < PATH_MAX;
}

/* On the file system of a writable place. */
static bool is_ours(const struct broker *b, int fd)
{
	struct stat st, place;

	if (fstat(fd, &st) < 0)
		return false;
	for (size_t i = 0; i < b->n_anchors; i++)
		if (b->anchors[i].fd >= 0 && fstat(b->anchors[i].fd, &place) == 0 &&
		    place.st_dev == st.st_dev)
			return true;
	return false;
}

/* The sandbox has a part of it that it may only read, and this may be that. */
static bool is_read_only(const struct broker *b, const struct anchor *found, const char *path)
{
	for (size_t i = 0; i < b->n_anchors; i++)
		if (b->anchors[i].fd < 0 && b->anchors[i].len >= found->len &&
		    path_is_below(path, *b->anchors[i].path ? b->anchors[i].path : "/"))
			return true;
	return false;
}

const struct anchor *place_by_mount(struct request *r, int fd, char *path, size_t size)
{
	const struct broker *b = r->b;
	_cleanup_close_ int self = -1;
	char theirs[PATH_MAX], ours[PATH_MAX];

	if (!r->nested || r->lent || !is_ours(b, fd) ||
	    !name_in_fs(r->task->proc, fd, path, theirs))
		return NULL;
	self = open("/proc/self", O_PATH | O_CLOEXEC);
	for (size_t i = 0; i < b->n_anchors; i++) {
		const struct anchor *a = &b->anchors[i];
		const char *place = a->home ? a->home : *a->path ? a->path : "/";
		_cleanup_close_ int host = a->fd < 0 ? -1 : open(place, O_PATH | O_CLOEXEC);
		const char *below;

		if (host < 0 || !name_in_fs(self, host, place, ours))
			continue;
		below = path_below(theirs, ours);
		if (below &&
		    snprintf(path, size, "%s%s%s", a->path, *below ? "/" : "", below) < (int)size)
			return is_read_only(b, a, path) ? NULL : a;
	}
	return NULL;
}
