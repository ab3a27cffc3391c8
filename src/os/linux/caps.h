/* SPDX-License-Identifier: MIT */
/* Capabilities: all of them gone, from every set. */
#pragma once

#include "base/err.h"

/* Empties the bounding, ambient, inheritable, permitted and effective sets. */
int caps_drop_all(struct err *err);

/*
 * Only who has CAP_SETFCAP when a user namespace is made may have root in it. A root without rights that
 * makes namespaces keeps it for that moment alone: all other capabilities go, this one is permitted and
 * not in force. caps_raise_map_root() puts it in force and out again; false: it changed nothing.
 */
int caps_keep_map_root(struct err *err);
bool caps_raise_map_root(bool on);
