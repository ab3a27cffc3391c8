/* SPDX-License-Identifier: MIT */
/* Images as files of their own, for other programs. */
#pragma once

#include "image/store.h"

/* A path that ends in ".tar" becomes a docker-archive, any other a directory with an OCI layout. */
int image_export(struct store *store, struct oci_image *image, const char *name, const char *path,
		 struct err *err);
