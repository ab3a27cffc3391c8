/* SPDX-License-Identifier: MIT */
/* Compressing a stream, always to the same bytes, with little memory: many are open side by side. */
#pragma once

#include "image/layer.h"

typedef int pack_fn(void *ctx, const void *data, size_t len);

struct packer *packer_new(enum compression how, pack_fn *out, void *ctx);
void packer_free(struct packer *packer);
enum compression packer_how(const struct packer *packer);

/* What comes of it is given to 'out', whose negative result is returned. */
int packer_add(struct packer *packer, const void *data, size_t len);
int packer_end(struct packer *packer);
