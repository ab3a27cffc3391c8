/* SPDX-License-Identifier: MIT */
/* wrapix-builder ssh: into the builder, the way Nix goes. */
#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "builder/machine.h"
#include "cli/builder/builder.h"
#include "os/proc.h"

int builder_ssh(struct builder *b, char **words, size_t n, struct err *err)
{
	struct strv argv = { 0 };
	char *ssh = os_find_program(&b->arena, "ssh", getenv("PATH") ?: "/usr/bin:/bin", NULL);

	if (!ssh) {
		err_set(err, ENOENT, "there is no ssh on this machine");
		return err_hint(err, "apt install openssh-client");
	}
	strv_add(&b->arena, &argv, ssh);
	strv_add(&b->arena, &argv, "-F");
	strv_add(&b->arena, &argv, path_join(&b->arena, b->keys, "ssh_config"));
	strv_add(&b->arena, &argv, BUILDER_NAME);
	if (n)
		strv_add(&b->arena, &argv, "--");
	for (size_t i = 0; i < n; i++) {
		_cleanup_str_ struct str word = { 0 };

		/* ssh hands a shell one line; a single word is one already. */
		if (n > 1)
			str_add_shell(&word, words[i]);
		strv_add(&b->arena, &argv, n > 1 ? word.s : words[i]);
	}
	execv(ssh, argv.v);
	return err_errno(err, errno, "executing '%s'", ssh);
}

static int cmd_ssh(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct builder_machine machine;
	struct builder builder;
	struct err err = { 0 };
	size_t n = 0;
	int r, status = cli_parse(argc, argv, NULL, &rest);

	if (status == CLI_GO_ON)
		status = builder_begin(&builder);
	if (status != CLI_GO_ON)
		return status;
	r = builder_look(&builder, &machine, &err);
	if (r == 0 && !machine.running) {
		r = err_set(&err, ENOENT, "the builder does not run");
		err_hint(&err, "wrapix-builder start");
	}
	while (rest.command && rest.command[n])
		n++;
	if (r == 0)
		r = builder_ssh(&builder, rest.command, n, &err);
	return builder_end(&builder, r, &err);
}

static const struct opt opts[] = {
	HELP,
	{ .kind = OPT_END },
};

const struct command command_builder_ssh = {
	.name = "ssh",
	.section = SECTION_LOOK,
	.usage = "ssh [-- CMD...]",
	.summary = "a shell in the builder, or a command",
	.description = "As the user 'builder', by the key and the host key that Nix uses.",
	.examples = EXAMPLES("wrapix-builder ssh", "a shell",
			     "wrapix-builder ssh -- nix-store --verify", "a command"),
	.syntax = { opts, .command = true },
	.run = cmd_ssh,
};
