/* SPDX-License-Identifier: MIT */
/* Commands of the project's at certain moments, in a sandbox whose changes are thrown away. */
#pragma once

#include "ralph/work.h"

/* env: "NAME=VALUE", NULL-terminated. The hook's exit status, 0 where there is none, or -errno. What a
 * failed one printed last is said. */
int hook_run(struct work *work, enum hook hook, char *const *env, struct err *err);
