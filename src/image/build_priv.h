/* SPDX-License-Identifier: MIT */
/* For build.c and workers.c. */
#pragma once

#include "image/build.h"
#include "image/split.h"

struct build {
	struct store *store;
	const struct source *source;
	const struct build_how *how;
	struct split *split; /* NULL: there is one layer */
	size_t n;            /* of layers */
	uint64_t total;      /* bytes of content */
	uint64_t *sizes;     /* of each layer */
};

/* Writes all layers; refs[i].entries is 0 where nothing is in layer i. */
int workers_write(const struct build *build, struct layer_ref *refs, struct err *err);

/* Which layer an entry goes to. */
struct archive_entry;
size_t build_layer_of(const struct build *build, struct archive_entry *entry);
