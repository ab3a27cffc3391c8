/* SPDX-License-Identifier: MIT */
/* What the files of gated.h share. */
#pragma once

#include "api/gated.h"

int gated_lock(struct gated *gated);
void gated_release(struct gated *gated);
/* One of that session's, as far as its name says. */
void gated_name(struct gated *gated, const char *state_home, const char *id);
/* The directory of a place. */
char *gated_place(struct gated *gated, unsigned number);
/* Each is a session of its own to 'wrapix git'. */
struct git_about gated_about(struct gated *gated, unsigned number, const char *path);
