/* SPDX-License-Identifier: MIT */
/* Trying, each for itself, what a sandbox is made of; for 'wrapix doctor'. Changes nothing. */
#pragma once

#include "plan/plan.h"

/* A user namespace, mapped. */
int probe_userns(struct err *err);
/* All namespaces of a sandbox, a tmpfs, a copy of /usr, a /proc of its own. */
int probe_mounts(struct err *err);
/* The filter, loaded. */
int probe_seccomp(struct err *err);
/* The filter of the network, in a namespace of its own; *ret_tier is the way it found. */
int probe_filter(const char **ret_tier, struct err *err);
/* pasta or slirp4netns, attached to a network namespace. */
int probe_uplink(const struct strv *argv, struct err *err);
