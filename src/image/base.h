/* SPDX-License-Identifier: MIT */
/*
 * An existing image as the base of ours: its layers and its configuration come into the store as they
 * are. REF is a layout ("DIR" or "DIR:NAME") or an archive of an image ("FILE"); anything else is a name
 * for skopeo, which knows podman's storage and registries.
 */
#pragma once

#include "image/build.h"

/* Signals are held (interrupt.h). Fills image and what of its files ours are merged with. 'scratch' is a directory that
 * may be made, and is gone afterwards; what skopeo says goes to 'log'. */
int base_fetch(struct store *store, const char *ref, const char *architecture, const char *scratch,
	       int log, struct oci_image *image, struct build_found *ret_found, struct err *err);
