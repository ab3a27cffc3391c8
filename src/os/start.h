/* SPDX-License-Identifier: MIT */
/* What is told where a child cannot be started. */
#pragma once

#include "base/err.h"

/* It, or a descriptor that it needs, is not to be had: "starting WHAT", why, and what to do about it. */
int os_err_start(struct err *err, int code, const char *what);
