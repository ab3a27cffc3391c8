/* SPDX-License-Identifier: MIT */
/*
 * Signals that would end us wait while something lies in the store that has to go first. What takes long
 * asks whether one waits, and gives up; after the tidying up it strikes.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"

void interrupt_hold(void);
void interrupt_release(void);
bool interrupt_waits(void);
/* -EINTR where one does. */
int interrupt_check(struct err *err);
