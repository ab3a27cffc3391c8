/* SPDX-License-Identifier: MIT */
/* wrapix-builder start, restart, stop. */
#include <errno.h>
#include <string.h>

#include "builder/machine.h"
#include "cli/builder/builder.h"

struct start_args {
	struct builder builder;
};

static int set(void *ctx, const struct opt *opt, const char *value, struct err *err)
{
	struct start_args *args = ctx;

	return builder_set(&args->builder, opt->name, value, err);
}

static int cmd_start(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	bool again = !strcmp(argv[0], "restart");
	struct start_args args;
	struct err err = { 0 };
	int r, status = builder_begin(&args.builder);

	if (status != CLI_GO_ON)
		return status;
	status = cli_parse(argc, argv, &args, &rest);
	if (status != CLI_GO_ON) {
		builder_close(&args.builder);
		return status;
	}
	r = again ? builder_stop(&args.builder, &err) : 0;
	if (r >= 0)
		r = builder_start(&args.builder, &err);
	if (r >= 0)
		printf("ssh-ng://" BUILDER_USER "@localhost:%llu %s\n",
		       (unsigned long long)args.builder.settings.port,
		       r ? "runs already" : "is ready");
	return builder_end(&args.builder, r, &err);
}

static int stop(struct builder *b, _unused_ void *args, _unused_ const struct opt_rest *rest,
		struct err *err)
{
	int r = builder_stop(b, err);

	if (r >= 0)
		printf(r ? "It does not run.\n" : "Stopped.\n");
	return r;
}

static int cmd_stop(int argc, char **argv)
{
	return builder_do(argc, argv, NULL, stop);
}

static const char *const *words(const char *name)
{
	static const char *const engines[] = { "auto", "native", "podman", "apple", NULL };
	static const char *const networks[] = { "open", "none", NULL };

	return !strcmp(name, "engine") ? engines : networks;
}

#define SETTING(option, argument, text)                                            \
	{                                                                          \
		0, option, argument, .kind = OPT_CALL, .call = set, .help = (text) \
	}

static const struct opt start_opts[] = {
	{ 0, "engine", "ENGINE", .kind = OPT_CALL, .call = set, .words = words,
	  .complete = COMPLETE_WORDS, .help = "native, podman or apple (default: auto)" },
	SETTING("image", "NAME", "run from this image; none: this machine's own programs"),
	SETTING("port", "PORT", "on 127.0.0.1 (default: 2222)"),
	SETTING("cores", "N", "use at most N cores; 0: all"),
	SETTING("memory", "SIZE", "use at most SIZE of memory; 0: all"),
	SETTING("idle", "TIME", "stop when nobody was there for TIME: 30m, 2h, never"),
	{ 0, "network", "MODE", .kind = OPT_CALL, .call = set, .words = words,
	  .complete = COMPLETE_WORDS, .help = "what builds may reach: open (default) or none" },
	HELP,
	{ .kind = OPT_END },
};

static const struct opt stop_opts[] = {
	HELP,
	{ .kind = OPT_END },
};

#define OPTIONS_STAY "The options are remembered, and count for the next start as well. "

const struct command command_builder_start = {
	.name = "start",
	.section = SECTION_RUN,
	.usage = "start [options]",
	.summary = "start the builder, and wait until it can be used",
	.description = "The first time its keys are made and its store is filled. " OPTIONS_STAY
		       "One that runs is left alone.",
	.examples = EXAMPLES("wrapix-builder start", "with all cores and memory",
			     "wrapix-builder start --cores 2 --memory 4G --idle 30m",
			     "with limits, until nobody was there for half an hour"),
	.syntax = { start_opts },
	.run = cmd_start,
};

const struct command command_builder_restart = {
	.name = "restart",
	.section = SECTION_RUN,
	.usage = "restart [options]",
	.summary = "stop it, and start it again",
	.description = OPTIONS_STAY "Builds that are under way are broken off.",
	.examples = EXAMPLES("wrapix-builder restart --memory 8G", "with another limit"),
	.syntax = { start_opts },
	.run = cmd_start,
};

const struct command command_builder_stop = {
	.name = "stop",
	.section = SECTION_RUN,
	.usage = "stop",
	.summary = "stop it; what was built stays",
	.description = "Builds that are under way are broken off; the store stays as it is.",
	.examples = EXAMPLES("wrapix-builder stop", "until the next start"),
	.syntax = { stop_opts },
	.run = cmd_stop,
};
