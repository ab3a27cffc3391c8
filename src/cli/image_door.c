/* SPDX-License-Identifier: MIT */
/* wrapix image: hands over to wrapix-image, whose libraries no start of a sandbox should load. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>

#include "base/path.h"
#include "base/str.h"
#include "cli/cli.h"
#include "os/fs.h"
#include "os/proc.h"

/* Becomes wrapix-image. Returns the exit status when it cannot. */
static int become(char **argv)
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
	err_hint(&err, "in a clone 'make' builds it; 'make install' installs it with wrapix");
	arena_release(&arena);
	return cli_fail(&err);
}

static int cmd_image(_unused_ int argc, char **argv)
{
	return become(argv);
}

/* A child, in the project's directory: the profile may be its own. What it prints is for us alone. */
_Noreturn static void build_in_child(const struct spec *spec, char **argv)
{
	const char *dir = spec->config_dir ? spec->config_dir : spec->dir;
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	dup2(null, STDOUT_FILENO);
	if (dir && chdir(dir) < 0)
		_exit(EXIT_WRAPIX);
	_exit(become(argv));
}

int cli_make_image(const struct spec *spec, struct err *err)
{
	const char *profile = spec->profile ? spec->profile : "base";
	_cleanup_str_ struct str list = { 0 };
	struct arena arena = { 0 };
	struct strv argv = { 0 };
	int status;
	pid_t pid;

	strv_add(&arena, &argv, "image");
	strv_add(&arena, &argv, "build");
	strv_add(&arena, &argv, profile);
	for (size_t i = 0; i < spec->packages.len; i++) {
		strv_add(&arena, &argv, "--package");
		strv_add(&arena, &argv, spec->packages.v[i]);
		str_addf(&list, "%s%s", i ? ", " : "", spec->packages.v[i]);
	}
	strv_add(&arena, &argv, "--name");
	strv_add(&arena, &argv, spec->image);
	fprintf(stderr,
		"wrapix: making an image of the profile '%s' with %s; it is kept, and the next "
		"start finds it\n",
		profile, list.s);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		build_in_child(spec, argv.v);
	status = os_await(pid);
	arena_release(&arena);
	if (pid < 0)
		return err_errno(err, errno, "fork");
	return status ? err_set(err, EIO, "the image with %s could not be made", list.s) : 0;
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
	.summary = "build, list, verify and load OCI images of profiles",
	.description = "'wrapix image help' lists what it does.",
	.examples = EXAMPLES("wrapix image build rust", "an image of the profile 'rust'",
			     "wrapix image load rust --into podman", "give it to podman"),
	.syntax = { opts, .max = -1U, .operand = "COMMAND", .complete = COMPLETE_WORDS,
		    .words = actions },
	.run = cmd_image,
	.is_program = true,
};
