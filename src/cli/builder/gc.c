/* SPDX-License-Identifier: MIT */
/* wrapix-builder gc: makes room in the builder's store. */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "builder/machine.h"
#include "cli/builder/builder.h"

struct gc_args {
	bool dry_run;
	const char *free;
};

static int collect(struct builder *b, void *data, _unused_ const struct opt_rest *rest,
		   struct err *err)
{
	const struct gc_args *args = data;
	struct strv words = { 0 };
	uint64_t bytes = 0;
	int r = args->free ? parse_size(args->free, &bytes, err) : 0;

	if (r == 0)
		r = builder_demand(b, err);
	if (r < 0)
		return r;
	strv_add(&b->arena, &words, "nix-store");
	strv_add(&b->arena, &words, "--gc");
	if (args->dry_run)
		strv_add(&b->arena, &words, "--print-dead");
	if (bytes) {
		strv_add(&b->arena, &words, "--max-freed");
		strv_addf(&b->arena, &words, "%llu", (unsigned long long)bytes);
	}
	return builder_ssh(b, words.v, words.len, err);
}

static int cmd_gc(int argc, char **argv)
{
	struct gc_args args = { 0 };

	return builder_do(argc, argv, &args, collect);
}

static const struct opt opts[] = {
	{ 'n', "dry-run", FLAG(gc_args, dry_run),
	  .help = "list what would go, and remove nothing" },
	{ 0, "free", "SIZE", .kind = OPT_STRING, .offset = offsetof(struct gc_args, free),
	  .help = "stop when SIZE is freed" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_builder_gc = {
	.name = "gc",
	.section = SECTION_LOOK,
	.usage = "gc [options]",
	.summary = "remove what was built and nothing holds",
	.description =
		"By the builder's own nix-store --gc: what came with its image stays, and so "
		"does what a build that is under way needs.",
	.examples = EXAMPLES("wrapix-builder gc --free 10G", "make room"),
	.syntax = { opts },
	.run = cmd_gc,
};
