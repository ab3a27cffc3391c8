/* SPDX-License-Identifier: MIT */
/* wrapix-init as a hook of podman's, before the container is made. */
#pragma once

#include "base/err.h"

/* Reads what podman wants made from standard input, and writes what is to be made. */
int hook_answer(struct err *err);
