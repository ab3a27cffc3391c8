/* SPDX-License-Identifier: MIT */
/* What the commands of 'wrapix image' share. */
#pragma once

#include "cli/cli.h"
#include "image/store.h"

extern const struct command command_image_build, command_image_list, command_image_show,
	command_image_verify, command_image_unpack, command_image_load, command_image_remove,
	command_image_gc;

/* $XDG_CACHE_HOME/wrapix/images. */
int image_open_store(struct store *store, struct err *err);
char *image_store_path(struct arena *arena);

/* The image of that name or digest, read; an error that says which there are. */
int image_find(struct store *store, const char *word, struct oci_image *ret, struct err *err);
