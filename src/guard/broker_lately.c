/* SPDX-License-Identifier: MIT */
/*
 * Directories of which something was found out lately: that they lie in no git directory, that the hooks around them were looked at. The host
 * may change that unseen, so it holds until the next tick of the kernel's clock; a command that makes or moves directories has it
 * forgotten at once.
 */
#include "guard/broker_priv.h"

enum { LATELY_MAX = 4096 };

/* Not in the middle of a call: what it found out before a look that took long is as old as that. */
void lately_begin(struct broker *b)
{
	if (clock_ticked(&b->lately_at))
		lately_forget(b);
}

bool lately_has(const struct path_map *lately, const char *dir, size_t len)
{
	return path_map_find(lately, dir, len);
}

void lately_add(struct path_map *lately, const char *dir, size_t len)
{
	if (lately->n >= LATELY_MAX)
		path_map_release(lately);
	(void)path_map_add(lately, dir, len);
}

void lately_forget(struct broker *b)
{
	path_map_release(&b->plain);
	path_map_release(&b->hooked_dirs);
}
