/* SPDX-License-Identifier: MIT */
/* What the files of gated.h share. */
#pragma once

#include "api/gated.h"

int gated_lock(struct gated *gated);
void gated_release(struct gated *gated);
/* One of that session's, as far as its name says. */
void gated_name(struct gated *gated, const char *state_home, const char *id);
/* gated_bases.c: what the host has in the directory that the first n bytes name, before it is held. */
void gated_keep_base(struct gated *gated, const char *path, size_t n);
/* gated_links.c: the names of links that count, before the first change, and as an earlier process wrote them down. */
void gated_find_aliases(struct gated *gated);
void gated_look_at_top(struct gated *gated); /* where nobody is asked about changes */
void gated_read_aliases(int meta, struct arena *arena, struct aliases *ret);
/* The name of a file with several that runs later; NULL: it has none, or (partial) none was found in what could be
 * looked through. */
const char *gated_other_name(struct gated *gated, const struct stat *st, bool *ret_partial);
/* The directory of a place. */
char *gated_place(struct gated *gated, unsigned number);
/* Each is a session of its own to 'wrapix git'. */
struct git_about gated_about(struct gated *gated, unsigned number, const char *path);
