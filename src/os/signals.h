/* SPDX-License-Identifier: MIT */
/* Signals as a descriptor: one that becomes readable when one of them has come. */
#pragma once

#include <signal.h>

/* The caller has blocked them. -1 with errno on failure. */
int os_signals_open(const sigset_t *set);
/* The next one, or 0 when there is none. */
int os_signals_next(int fd);
