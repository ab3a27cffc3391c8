/* SPDX-License-Identifier: MIT */
/* Interfaces and settings of the calling process's network namespace. */
#pragma once

#include "base/err.h"

int netif_loopback_up(struct err *err);

/* A setting below /proc/sys/net, for those that nothing depends on: a kernel may lack it, and /proc may
 * be read-only. */
void netif_set(const char *path, const char *value);
