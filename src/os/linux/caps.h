/* SPDX-License-Identifier: MIT */
/* Capabilities: all of them gone, from every set; or all but a few. And the user's keys, left behind. */
#pragma once

#include "base/err.h"

/* Empties the bounding, ambient, inheritable, permitted and effective sets. */
int caps_drop_all(struct err *err);

/* The same but for one that is permitted, not in force, and of no use outside of the first user namespace
 * (CAP_WAKE_ALARM). The kernel lets nobody trace a process, or take its descriptors, who has not all that
 * is permitted to it; an exec ends it. */
int caps_keep_token(struct err *err);

/* Ours alone: the bounding set stays, for who was forked before. */
int caps_drop_own(struct err *err);

/* What root of a builder's user namespace keeps, over what that owns: files and their owners, users,
 * processes, low ports, chroot. Nothing that mounts, traces, or administers a network. */
int caps_keep_root(struct err *err);

/*
 * Only who has CAP_SETFCAP when a user namespace is made may have root in it. A root without rights that
 * makes namespaces keeps it for that moment alone: all other capabilities go, this one is permitted and
 * not in force. caps_raise_map_root() puts it in force and out again; false: it changed nothing.
 */
int caps_keep_map_root(struct err *err);
bool caps_raise_map_root(bool on);

/* From now on the session's keyring is a new one. What refuses the call refuses every other for keys as well. */
int keyring_leave(struct err *err);

/* Power over files whose mode says no: out of force, or in force again. False: it changed nothing. */
bool caps_raise_files(bool on);
