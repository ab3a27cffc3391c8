/* SPDX-License-Identifier: MIT */
/* What a builder needs before its programs start. */
#pragma once

#include "base/err.h"

/* The stage's files with the modes that sshd wants, users, directories; what a killed one left is
 * removed. *ret_idle_ms: when to end. */
int builder_prepare(int64_t *ret_idle_ms, struct err *err);
