/* SPDX-License-Identifier: MIT */
/* wrapix-builder setup, unsetup: root's side of Nix, shown as a diff before it is written. */
#include <errno.h>
#include <string.h>

#include "builder/setup.h"
#include "cli/builder/builder.h"
#include "cow/unified.h"

struct setup_args {
	const char *etc, *user;
	bool yes, dry_run, force;
};

static void print_visible(const char *text, size_t len)
{
	_cleanup_str_ struct str out = { 0 };

	str_add(&out, "");
	str_add_visible(&out, text, len);
	fputs(out.s, stdout);
}

static void print_change(const struct setup_change *c)
{
	_cleanup_str_ struct str diff = { 0 };

	if (c->before && c->after && !c->unreadable && c->before_len == c->after_len &&
	    !memcmp(c->before, c->after, c->after_len))
		return;
	printf("--- %s\n+++ %s\n", c->before ? c->path : "/dev/null",
	       c->after ? c->path : "/dev/null");
	if (c->secret || c->unreadable) {
		printf("  (%s%zu bytes, mode %04o)\n",
		       c->secret ? "a private key: " : "cannot be read; ",
		       c->after ? c->after_len : 0, c->after ? c->mode : 0);
		return;
	}
	unified_add(&diff, c->before ? c->before : "", c->before_len, c->after ? c->after : "",
		    c->after ? c->after_len : 0, &(struct unified_stat){ 0 });
	print_visible(diff.s ? diff.s : "", diff.len);
}

/* Shows them; 1: they are to be made. */
static int ask(const struct setup_changes *changes, const struct setup_args *args, struct err *err)
{
	for (size_t i = 0; i < changes->len; i++)
		print_change(&changes->v[i]);
	for (size_t i = 0; i < changes->len; i++)
		if (changes->v[i].edited && !args->force) {
			err_set(err, EBUSY, "'%s' was changed by somebody since setup",
				changes->v[i].path);
			return err_hint(err, "--force puts back what was there before setup");
		}
	if (args->dry_run)
		return 0;
	if (access(changes->etc, W_OK) < 0) {
		err_errno(err, EACCES, "writing below '%s'", changes->etc);
		return err_hint(err, "sudo wrapix-builder %s", changes->back ? "unsetup" : "setup");
	}
	if (!args->yes && !isatty(STDIN_FILENO)) {
		err_usage(err, "not on a terminal, so nobody can be asked");
		return err_hint(err, "--yes, when you have read the list above");
	}
	if (!args->yes && !cli_ask("Write this?"))
		return err_set(err, ECANCELED, "nothing was changed");
	return 1;
}

static int carry_out(struct setup_changes *changes, const struct setup_args *args, struct err *err)
{
	int r;

	if (setup_is_done(changes) && !changes->back) {
		printf("Nothing to do: all of it is there.\n");
		return 0;
	}
	r = ask(changes, args, err);
	if (r > 0)
		r = setup_apply(changes, err);
	else
		return r;
	if (r == 0)
		printf(changes->back ? "It is as it was before setup.\n"
				     : "Written. 'wrapix-builder unsetup' takes it back.\n");
	return r;
}

/* Whose builder: who is named, or who called sudo, or this user. */
static const char *whose(const struct setup_args *args)
{
	const char *sudo = geteuid() == 0 ? getenv("SUDO_USER") : NULL;

	return args->user ? args->user : sudo && *sudo ? sudo : NULL;
}

static int plan_setup(const struct setup_args *args, struct setup_changes *changes, struct err *err)
{
	const char *user = whose(args);
	struct builder builder = { 0 };
	int r = builder_become(user, err);

	if (r == 0)
		r = builder_open(&builder, user, err);
	if (builder_return(r == 0 ? err : &(struct err){ 0 }) < 0)
		r = -err->code;
	if (r == 0)
		r = setup_plan(&builder, args->etc ? args->etc : "/etc", changes, err);
	builder_close(&builder);
	return r;
}

static int cmd_setup(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	bool back = !strcmp(argv[0], "unsetup");
	struct setup_args args = { 0 };
	struct setup_changes changes = { 0 };
	struct err err = { 0 };
	int r, status = cli_parse(argc, argv, &args, &rest);

	if (status != CLI_GO_ON)
		return status;
	r = back ? unsetup_plan(args.etc ? args.etc : "/etc", &changes, &err)
		 : plan_setup(&args, &changes, &err);
	if (r == 0)
		r = carry_out(&changes, &args, &err);
	setup_release(&changes);
	return r < 0 ? cli_fail(&err) : 0;
}

static const struct opt setup_opts[] = {
	{ 'n', "dry-run", FLAG(setup_args, dry_run), .help = "show the changes, and make none" },
	{ 'y', "yes", FLAG(setup_args, yes), .help = "do not ask" },
	{ 0, "etc", "DIR", .kind = OPT_STRING, .offset = offsetof(struct setup_args, etc),
	  .help = "write below DIR instead of /etc", .complete = COMPLETE_DIR },
	{ 0, "user", "NAME", .kind = OPT_STRING, .offset = offsetof(struct setup_args, user),
	  .help = "whose builder (default: who called sudo)" },
	HELP,
	{ .kind = OPT_END },
};

static const struct opt unsetup_opts[] = {
	{ 'n', "dry-run", FLAG(setup_args, dry_run), .help = "show the changes, and make none" },
	{ 'y', "yes", FLAG(setup_args, yes), .help = "do not ask" },
	{ 0, "etc", "DIR", .kind = OPT_STRING, .offset = offsetof(struct setup_args, etc),
	  .help = "write below DIR instead of /etc", .complete = COMPLETE_DIR },
	{ 'f', "force", FLAG(setup_args, force),
	  .help = "put back also what somebody changed since setup" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_builder_setup = {
	.name = "setup",
	.section = SECTION_NIX,
	.usage = "setup [options]",
	.summary = "let this machine's Nix use the builder; needs root",
	.description =
		"Writes a line into /etc/nix/machines, a host for ssh, the builder's host key and "
		"a copy of the key that may log in, which root alone can read. All changes are "
		"shown first; what was there is kept, and 'unsetup' puts it back, byte for byte.",
	.examples = EXAMPLES("sudo wrapix-builder setup", "show, ask, write",
			     "wrapix-builder setup --dry-run", "only look"),
	.syntax = { setup_opts },
	.run = cmd_setup,
};

const struct command command_builder_unsetup = {
	.name = "unsetup",
	.section = SECTION_NIX,
	.usage = "unsetup [options]",
	.summary = "put back what setup changed; needs root",
	.description =
		"Each file is as it was before the first 'setup', byte for byte. What others "
		"wrote into the list of machines since stays; only our lines go.",
	.examples = EXAMPLES("sudo wrapix-builder unsetup", "show, ask, put back"),
	.syntax = { unsetup_opts },
	.run = cmd_setup,
};
