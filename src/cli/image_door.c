/* SPDX-License-Identifier: MIT */
/* wrapix image: hands over to wrapix-image, whose libraries no start of a sandbox should load. */
#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "cli/cli.h"
#include "os/fs.h"

static int cmd_image(_unused_ int argc, char **argv)
{
	struct arena arena = { 0 };
	char *self = os_realpath(&arena, "/proc/self/exe");
	const char *const places[] = {
		self ? path_join(&arena, path_parent(&arena, self), "wrapix-image") : "",
		WRAPIX_LIBEXECDIR "/wrapix-image",
	};
	struct err err = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		execv(places[i], argv);
	err_errno(&err, errno, "starting '%s'", places[1]);
	err_hint(&err, "it is installed together with wrapix: 'make install'");
	arena_release(&arena);
	return cli_fail(&err);
}

static const char *const *actions(_unused_ const char *name)
{
	static const char *const words[] = { "build", "list",   "show", "verify", "unpack",
					     "load",  "remove", "gc",   "help",   NULL };

	return words;
}

static const struct opt opts[] = {
	HELP,
	{ .kind = OPT_END },
};

const struct command command_image = {
	.name = "image",
	.section = SECTION_HOST,
	.usage = "image COMMAND [options]",
	.summary = "build, list, check and load OCI images of profiles",
	.description = "'wrapix image help' lists what it does.",
	.examples = EXAMPLES("wrapix image build rust", "an image of the profile 'rust'",
			     "wrapix image load rust --into podman", "give it to podman"),
	.syntax = { opts, .max = -1U, .operand = "COMMAND", .complete = COMPLETE_WORDS,
		    .words = actions },
	.run = cmd_image,
	.is_program = true,
};
