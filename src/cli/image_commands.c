/* SPDX-License-Identifier: MIT */
/* The commands of 'wrapix image'. */
#include "cli/image.h"

const struct program this_program = {
	.name = "wrapix image",
	.file = "wrapix-image",
	.about = "Builds OCI images of profiles, keeps them in one place where layers are shared, "
		 "and hands them to engines.",
	.examples = EXAMPLES("wrapix image build rust", "an image of the profile 'rust'",
			     "wrapix image load rust --into podman", "give it to podman"),
};

/* What a shell offers where an image is meant. */
int cli_print_sessions(void)
{
	struct store store = STORE_NONE;
	struct oci_index index = { 0 };
	struct err ignored; /* nothing to offer */

	if (image_open_store(&store, &ignored) == 0 &&
	    oci_read_index(store.dir, &index, &ignored) == 0)
		for (size_t i = 0; i < index.n; i++)
			puts(index.names[i].name);
	oci_index_release(&index);
	layout_close(&store);
	return 0;
}

const char *const command_sections[SECTION_COUNT] = { [SECTION_SANDBOX] = "commands" };

/* clang-format off */
const struct command *const commands[] = {
	&command_image_build,
	&command_image_list,
	&command_image_show,
	&command_image_verify,
	&command_image_unpack,
	&command_image_load,
	&command_image_remove,
	&command_image_gc,
	&command_completion,
	&command_help,
	&command_version,
	NULL,
};
/* clang-format on */
