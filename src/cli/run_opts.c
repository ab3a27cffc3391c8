/* SPDX-License-Identifier: MIT */
/* The options of 'run' and 'plan'. Each lands in the spec by the name it has in wrapix.json. */
#include "cli/cli.h"

#include "spec/config.h"

static int set_key(void *ctx, const struct opt *opt, const char *value, struct err *err)
{
	struct run_args *args = ctx;

	return spec_set(&args->spec, opt->name, value, LAYER_FLAG, err);
}

static int add_env(void *ctx, _unused_ const struct opt *opt, const char *value, struct err *err)
{
	struct run_args *args = ctx;

	return spec_add_env_string(&args->spec, value, LAYER_FLAG, err);
}

static int add_mount(void *ctx, _unused_ const struct opt *opt, const char *value, struct err *err)
{
	struct run_args *args = ctx;

	return spec_add_mount_string(&args->spec, value, LAYER_FLAG, err);
}

/* For the shells; a profile of the user's own is as good. */
static const char *const *profile_words(_unused_ const char *name)
{
	static const char *words[32];

	for (size_t i = 0; i + 1 < ARRAY_LEN(words) && config_profile(i); i++)
		words[i] = config_profile(i);
	return words;
}

#define KEY .kind = OPT_CALL, .call = set_key
#define WORDS KEY, .words = spec_choices, .complete = COMPLETE_WORDS
#define FLAG(field) .kind = OPT_FLAG, .offset = offsetof(struct run_args, field)

/* What both commands take, after their own. */
static const struct opt shared_opts[] = {
	{ 0, "profile", "NAME", KEY, .words = profile_words, .complete = COMPLETE_WORDS,
	  .help = "start from this profile's settings" },
	{ 0, "env", "K=V|K", .kind = OPT_CALL, .call = add_env, .repeat = true,
	  .complete = COMPLETE_ENV,
	  .help = "set a variable inside, or let the host's value in; repeatable" },
	{ 0, "mount", "SRC:DEST[:ro|rw][,optional]", .kind = OPT_CALL, .call = add_mount,
	  .repeat = true, .complete = COMPLETE_FILE,
	  .help = "show SRC of the host at DEST inside, writable unless ':ro'; repeatable" },
	{ 0, "network", "open|none|host", WORDS,
	  .help = "open: the internet, not this machine's own services; none: loopback alone; "
		  "host: this machine's network (default: open)" },
	{ 0, "cpus", "N", KEY, .help = "at most this many processors' time, as 1.5" },
	{ 0, "memory", "SIZE", KEY, .help = "at most this much memory, as 4G" },
	{ 0, "pids", "N", KEY, .help = "at most this many processes and threads" },
	{ 0, "disk", "SIZE", KEY,
	  .help = "size of the private writable space: home, /tmp (default: 4G)" },
	{ 0, "agent", "NAME|PATH", KEY, .complete = COMPLETE_PROGRAM,
	  .help = "the agent to start (default: claude)" },
	{ 0, "engine", "auto|native|podman|apple", WORDS,
	  .help = "what makes the sandbox; native alone is in this version" },
	{ 0, "name", "NAME", KEY, .help = "call the session so (default: the directory's name)" },
	{ 0, "home", "fresh|keep", WORDS,
	  .help = "an empty home each time, or one kept for this project "
		  "(default: fresh)" },
	{ 0, "only", FLAG(spec.only), .help = "DIR alone, without the repository around it" },
	{ 0, "force", FLAG(spec.force), .help = "accept '/' or your home directory as DIR" },
	{ 0, "as-root", FLAG(spec.as_root),
	  .help = "as root: stay root instead of becoming the owner of DIR" },
	{ 0, "allow-nested", FLAG(spec.allow_nested),
	  .help = "let programs make namespaces of their own (browsers, sandboxes)" },
	{ 'v', "verbose", FLAG(spec.verbose), .help = "say what is being done" },
	{ 'h', "help", .kind = OPT_HELP, .help = "show this help" },
	{ .kind = OPT_END },
};

const struct opt run_opts[] = {
	{ 0, "dry-run", FLAG(dry_run), .help = "print the plan and do nothing" },
	{ .kind = OPT_MORE, .more = shared_opts },
};

const struct opt plan_opts[] = {
	{ 0, "json", FLAG(json), .help = "print the plan as JSON" },
	{ 0, "host", "FILE", .kind = OPT_STRING, .offset = offsetof(struct run_args, host_file),
	  .complete = COMPLETE_FILE,
	  .help = "plan for the machine that this file describes, not for this one" },
	{ .kind = OPT_MORE, .more = shared_opts },
};
