/* SPDX-License-Identifier: MIT */
/* The kinds of source. */
#pragma once

#include "image/source.h"

int source_visit_tar(const struct source *source, source_fn *fn, void *ctx, struct err *err);
int source_visit_dir(const struct source *source, source_fn *fn, void *ctx, struct err *err);
int source_visit_store(const struct source *source, source_fn *fn, void *ctx, struct err *err);
