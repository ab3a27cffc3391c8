/* SPDX-License-Identifier: MIT */
/* wrapix-builder config: what to write into a configuration of Nix's, with the host key pinned. */
#include <errno.h>
#include <string.h>

#include "cli/builder/builder.h"

static const struct {
	const char *name;
	enum builder_snippet snippet;
	const char *head; /* before it, where all are printed */
} forms[] = {
	{ "nix.conf", SNIPPET_NIX_CONF, "# /etc/nix/nix.conf, with the part for ssh below\n" },
	{ "nixos", SNIPPET_NIXOS, "# NixOS: a module\n" },
	{ "darwin", SNIPPET_DARWIN, "# nix-darwin: a module\n" },
	{ "ssh", SNIPPET_SSH, "# ssh, such as /etc/ssh/ssh_config.d/100-wrapix-builder.conf\n" },
};

static const char *const *form_names(_unused_ const char *name)
{
	static const char *const words[] = { "nix.conf", "nixos", "darwin", "ssh", NULL };

	return words;
}

static int print(struct builder *b, _unused_ void *args, const struct opt_rest *rest,
		 struct err *err)
{
	const char *form = rest->n_operands ? rest->operands[0] : NULL;
	char *host = builder_make_keys(b, err) < 0 ? NULL : builder_public_key(b, "host", err);
	bool known = !form;

	if (!host)
		return -err->code;
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		if (form && strcmp(form, forms[i].name))
			continue;
		known = true;
		printf("%s%s", !form && i ? "\n" : "", form ? "" : forms[i].head);
		fputs(builder_snippet(&b->arena, b, forms[i].snippet, builder_key_path(b, "client"),
				      host),
		      stdout);
	}
	return known ? 0 : err_usage(err, "'%s': there is nix.conf, nixos, darwin and ssh", form);
}

static int cmd_config(int argc, char **argv)
{
	return builder_do(argc, argv, NULL, print);
}

static const struct opt opts[] = {
	HELP,
	{ .kind = OPT_END },
};

const struct command command_builder_config = {
	.name = "config",
	.section = SECTION_NIX,
	.usage = "config [nix.conf|nixos|darwin|ssh]",
	.summary = "print what a configuration of Nix's needs",
	.description = "For nix.conf, for NixOS, for nix-darwin and for ssh; all of them when none "
		       "is named. The builder's host key is in it: nobody has to trust one on "
		       "first use. The keys are made where there are none.",
	.examples = EXAMPLES("wrapix-builder config nixos >builder.nix", "a module of NixOS'"),
	.syntax = { opts, .max = 1, .operand = "FORM", .complete = COMPLETE_WORDS,
		    .words = form_names },
	.run = cmd_config,
};
