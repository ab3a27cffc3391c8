/* SPDX-License-Identifier: MIT */
/* Commands of the user's and the project's at certain moments, in a sandbox whose changes are thrown away. */
#pragma once

#include "ralph/work.h"

/* config: of that hook, the user's or the project's. env: "NAME=VALUE", NULL-terminated. The hook's exit status, 0 where
 * there is none, or -errno. What a failed one printed last is said. */
int hook_run(struct work *work, enum hook hook, const struct hook_config *config, char *const *env,
	     struct err *err);
