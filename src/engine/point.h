/* SPDX-License-Identifier: MIT */
/* Where another program mounts: in a tree of the user's the place must be there, because nothing is made in it
 * (the program would make one, and leave it). */
#pragma once

#include "plan/plan.h"

/* The innermost mount around that of 'op', among those that is_mount() names; NULL: none. */
const struct op *point_around(const struct plan *plan, const struct op *op,
			      bool (*is_mount)(const struct plan *plan, const struct op *op));
/* The place of 'op' in that mount's source. In a directory of ours it is made. */
int point_check(struct arena *arena, const struct op *op, const struct op *around, struct err *err);
