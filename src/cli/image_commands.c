/* SPDX-License-Identifier: MIT */
/* The commands of 'wrapix image'. */
#include "cli/image.h"

const struct program this_program = {
	.name = "wrapix image",
	.about = "Builds OCI images of profiles, keeps them in one place where layers are shared, "
		 "and hands "
		 "them to engines.",
	.examples = EXAMPLES("wrapix image build rust", "an image of the profile 'rust'",
			     "wrapix image load rust --into podman", "give it to podman"),
};

const char *const command_sections[SECTION_COUNT] = { [SECTION_SANDBOX] = "commands" };

const struct command *const commands[] = {
	&command_image_build,
	&command_image_list,
	&command_image_show,
	&command_image_verify,
	&command_image_unpack,
	&command_image_load,
	&command_image_remove,
	&command_image_gc,
	&command_help,
	&command_version,
	NULL,
};
