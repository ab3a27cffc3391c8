/* SPDX-License-Identifier: MIT */
/* What the commands of 'wrapix image' share. */
#pragma once

#include "cli/cli.h"
#include "image/store.h"

extern const struct command command_image_build, command_image_list, command_image_show,
	command_image_verify, command_image_unpack, command_image_load, command_image_remove,
	command_image_gc;

/* What any of them but 'build' takes. */
struct image_args {
	const char *name; /* the operand */
	bool json;
	const char *into, *as;
};

/* $XDG_CACHE_HOME/wrapix/images. */
int image_open_store(struct store *store, struct err *err);
char *image_store_path(struct arena *arena);

/* "registry.example/some/thing:1.2" becomes "thing". */
char *image_name_of(struct arena *arena, const char *ref);
/* Where there is none. */
int image_no_name(struct err *err);

/* Parses the words, opens the store and calls fn; the exit status. */
typedef int image_fn(struct store *store, const struct image_args *args, struct err *err);
int image_command(int argc, char **argv, image_fn *fn);

/* Calls fn with the image that args->name means. */
typedef int named_fn(struct store *store, struct oci_image *image, const struct image_args *args,
		     struct err *err);
int image_named(struct store *store, const struct image_args *args, named_fn *fn, struct err *err);

#define ONE_IMAGE .min = 1, .max = 1, .operand = "NAME", .complete = COMPLETE_SESSION

/* The row of a command whose work is do_VERB(). */
#define IMAGE_COMMAND(verb, words, text, ...)                \
	static int cmd_##verb(int argc, char **argv)         \
	{                                                    \
		return image_command(argc, argv, do_##verb); \
	}                                                    \
	const struct command command_image_##verb = {        \
		.name = #verb,                               \
		.usage = words,                              \
		.summary = text,                             \
		.syntax = __VA_ARGS__,                       \
		.run = cmd_##verb,                           \
	}
