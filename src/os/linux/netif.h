/* SPDX-License-Identifier: MIT */
/* Network interfaces of the calling process's network namespace. */
#pragma once

#include "base/err.h"

int netif_loopback_up(struct err *err);
