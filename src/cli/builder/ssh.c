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

static int enter(struct builder *b, _unused_ void *args, const struct opt_rest *rest,
		 struct err *err)
{
	size_t n = 0;
	int r = builder_demand(b, err);

	while (rest->command && rest->command[n])
		n++;
	return r < 0 ? r : builder_ssh(b, rest->command, n, err);
}

static int cmd_ssh(int argc, char **argv)
{
	return builder_do(argc, argv, NULL, enter);
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
