/* SPDX-License-Identifier: MIT */
/* Capabilities: all of them gone, from every set. */
#pragma once

#include "base/err.h"

/* Empties the bounding, ambient, inheritable, permitted and effective sets. */
int caps_drop_all(struct err *err);
