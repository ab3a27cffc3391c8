/* SPDX-License-Identifier: MIT */
/* Which file it is, whatever its name, and the few that are remembered by that. */
#include <fcntl.h>
#include <sys/stat.h>

#include "guard/broker_priv.h"

struct file_id file_id_at(int dir, const char *name)
{
	const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH;
	struct file_id id = { 0 };
	struct statx born;
	struct stat st;

	if (fstatat(dir, name, &st, flags) < 0)
		return id;
	id = (struct file_id){ .dev = st.st_dev, .ino = st.st_ino };
	if (statx(dir, name, flags, STATX_INO | STATX_BTIME, &born) == 0 &&
	    (born.stx_mask & STATX_BTIME) && born.stx_ino == st.st_ino)
		id.born = born.stx_btime.tv_sec * 1000000000LL + born.stx_btime.tv_nsec;
	return id;
}

bool id_ring_has(const struct id_ring *ring, struct file_id id)
{
	for (size_t i = 0; id.ino && i < MIN(ring->next, (size_t)BROKER_IDS); i++)
		if (ring->ids[i].ino == id.ino && ring->ids[i].dev == id.dev &&
		    ring->ids[i].born == id.born)
			return true;
	return false;
}

void id_ring_add(struct id_ring *ring, struct file_id id)
{
	ring->ids[ring->next % BROKER_IDS] = id;
	if (++ring->next == 2 * BROKER_IDS)
		ring->next = BROKER_IDS;
}

void id_ring_drop(struct id_ring *ring, dev_t dev, ino_t ino)
{
	for (size_t i = 0; i < BROKER_IDS; i++)
		if (ring->ids[i].ino == ino && ring->ids[i].dev == dev)
			ring->ids[i] = (struct file_id){ 0 };
}

bool broker_bound(const struct broker *b, int file)
{
	return id_ring_has(&b->bound, file_id_at(file, ""));
}
