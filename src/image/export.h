/* SPDX-License-Identifier: MIT */
/* Images as files of their own, for other programs. */
#pragma once

#include "image/store.h"

/* A path that ends in ".oci.tar" becomes an archive of an OCI layout, in ".tar" one of docker's, any
 * other a directory with an OCI layout. A file is whole or not there. */
int image_export(struct store *store, struct oci_image *image, const char *name, const char *path,
		 struct err *err);
