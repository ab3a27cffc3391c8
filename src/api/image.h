/* SPDX-License-Identifier: MIT */
/* The image of a run. */
#pragma once

#include "spec/host.h"

/* Holds the image's root, so that nobody removes it while the sandbox runs: a descriptor to close
 * afterwards; -1 when the run has no image. -errno with a reason when it cannot be held. */
int image_hold(const struct host *host, int *ret_fd, struct err *err);

/* True when the image of the spec is unpacked. */
bool image_is_there(struct spec *spec);
