/* SPDX-License-Identifier: MIT */
/* Root gives itself up: a sandbox started by root runs as the owner of its project. */
#pragma once

#include "base/err.h"

/* As root, becomes the owner of dir for good, with that user's groups and HOME; as anybody else, or
 * when root owns dir, does nothing. */
int identity_become_owner(const char *dir, struct err *err);
