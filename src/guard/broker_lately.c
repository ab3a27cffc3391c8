/* SPDX-License-Identifier: MIT */
/*
 * Directories of which something was found out lately: that they lie in no git directory, that the hooks around them were looked at. The host
 * may change that unseen, so it holds until the next tick of the kernel's clock; a command that makes or moves directories has it
 * forgotten at once.
 */
#include "guard/broker_priv.h"

enum { LATELY_MAX = 4096 };

bool lately_has(struct lately *lately, const char *dir, size_t len)
{
	if (clock_ticked(&lately->at))
		path_map_release(&lately->dirs);
	return path_map_find(&lately->dirs, dir, len);
}

void lately_add(struct lately *lately, const char *dir, size_t len)
{
	if (lately->dirs.n >= LATELY_MAX)
		path_map_release(&lately->dirs);
	(void)path_map_add(&lately->dirs, dir, len);
}

void lately_forget(struct broker *b)
{
	path_map_release(&b->plain.dirs);
	path_map_release(&b->hooked_dirs.dirs);
}
