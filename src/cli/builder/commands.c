/* SPDX-License-Identifier: MIT */
/* The commands of wrapix-builder. */
#include <errno.h>

#include "builder/machine.h"
#include "cli/builder/builder.h"

const struct program this_program = {
	.name = "wrapix-builder",
	.label = "wrapix-builder",
	.about =
		"A Linux machine for Nix's remote builds, at ssh-ng://builder@localhost:2222: in a "
		"sandbox of its own, without root and without a password.",
	.examples = EXAMPLES("wrapix-builder start", "have one", "sudo wrapix-builder setup",
			     "let this machine's Nix use it",
			     "nix build --system x86_64-linux .#thing", "build something on it"),
};

const char *const command_sections[SECTION_COUNT] = {
	[SECTION_RUN] = "the machine",
	[SECTION_LOOK] = "looking at it",
	[SECTION_NIX] = "making Nix use it",
	[SECTION_SELF] = "wrapix-builder itself",
};

/* clang-format off */
const struct command *const commands[] = {
	&command_builder_start,
	&command_builder_stop,
	&command_builder_restart,
	&command_builder_status,
	&command_builder_ssh,
	&command_builder_logs,
	&command_builder_gc,
	&command_builder_config,
	&command_builder_setup,
	&command_builder_unsetup,
	&command_completion,
	&command_help,
	&command_version,
	NULL,
};
/* clang-format on */

/* There is one builder, and nothing to choose from. */
int cli_print_sessions(void)
{
	return 0;
}

static void on_say(_unused_ void *ctx, const char *text)
{
	fprintf(stderr, "wrapix-builder: %s\n", text);
}

int builder_begin(struct builder *builder)
{
	struct err err = { 0 };

	*builder = (struct builder){ .say = on_say };
	if (builder_open(builder, NULL, &err) == 0)
		return CLI_GO_ON;
	return builder_end(builder, -err.code, &err);
}

int builder_demand(struct builder *builder, struct err *err)
{
	struct builder_machine machine;
	int r = builder_look(builder, &machine, err);

	if (r < 0 || machine.running)
		return r;
	err_set(err, ENOENT, "the builder does not run");
	return err_hint(err, "wrapix-builder start");
}

int builder_do(int argc, char **argv, void *args, builder_work *work)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct builder builder;
	struct err err = { 0 };
	int r, status = cli_parse(argc, argv, args, &rest);

	if (status == CLI_GO_ON)
		status = builder_begin(&builder);
	if (status != CLI_GO_ON)
		return status;
	r = work(&builder, args, &rest, &err);
	return builder_end(&builder, r, &err);
}

int builder_end(struct builder *builder, int r, const struct err *err)
{
	builder_close(builder);
	return r < 0 ? cli_fail(err) : 0;
}
