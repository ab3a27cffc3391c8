/* SPDX-License-Identifier: MIT */
/*
 * Tasks in beads ('bd'), for projects that have them there (.beads): in place of the export. Issues with the
 * label spec-FEATURE are the feature's items, under the same ids; what changed on either side since the last
 * time is taken over to the other. Who changed it last is told by the state that both had then.
 */
#pragma once

#include "ralph/work.h"

/* The project has .beads, and 'bd' is installed. */
bool beads_used(const struct site *site);
int beads_sync(struct work *work, struct err *err);

/* What 'bd list' said of a feature's issues is taken over into its items. */
int beads_take(struct work *work, const struct feature *feature, const char *text, struct err *err);
