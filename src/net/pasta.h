/* SPDX-License-Identifier: MIT */
/* pasta gives a network namespace the host's network from user space, without privileges. */
#pragma once

#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"

/*
 * Starts pasta (argv without the last word) for the namespaces of pid and waits until it is ready.
 * It dies with the caller. The caller stops it: pasta of 2023 outlives its target.
 */
int pasta_start(const struct strv *argv, pid_t pid, pid_t *ret_pasta, struct err *err);
void pasta_stop(pid_t pasta);
