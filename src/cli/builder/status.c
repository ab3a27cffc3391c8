/* SPDX-License-Identifier: MIT */
/* wrapix-builder status: whether it runs, how, and what it keeps. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "builder/machine.h"
#include "cli/builder/builder.h"
#include "cow/copy.h"

struct status_args {
	bool json;
};

static uint64_t store_size(const struct builder *b)
{
	_cleanup_close_ int dir = open(b->nix, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return dir < 0 ? 0 : tree_usage(dir);
}

static void print_json(struct builder *b, const struct builder_machine *m, bool ready)
{
	_cleanup_str_ struct str out = { 0 };

	str_add(&out, "{");
	json_add_member(&out, "state", !m->running ? "stopped" : ready ? "ready" : "starting");
	json_add_member(
		&out, "address",
		arena_printf(&b->arena, "ssh-ng://" BUILDER_USER "@localhost:%llu",
			     (unsigned long long)(m->running ? m->port : b->settings.port)));
	json_add_member(&out, "system", builder_system());
	json_add_member(&out, "engine", engine_name(m->running ? m->engine : builder_engine(b)));
	json_add_member(&out, "root", m->running ? m->root : NULL);
	if (m->running) {
		json_add_count(&out, "pid", (uint64_t)m->pid);
		json_add_count(&out, "started", (uint64_t)m->started);
	}
	json_add_count(&out, "port", m->running ? m->port : b->settings.port);
	json_add_count(&out, "cores", b->settings.cores);
	json_add_count(&out, "memory", b->settings.memory);
	json_add_count(&out, "idle", b->settings.idle);
	json_add_member(&out, "network", net_mode_name(b->settings.net));
	json_add_member(&out, "keys", b->keys);
	json_add_member(&out, "store", b->nix);
	json_add_count(&out, "storeBytes", store_size(b));
	str_add(&out, "}");
	printf("%s\n", out.s);
}

static void print_limit(const char *what, uint64_t value, const char *unit)
{
	if (value)
		printf(", %s %llu%s", what, (unsigned long long)value, unit);
}

static void print_text(struct builder *b, const struct builder_machine *m, bool ready)
{
	printf("builder  %s\n", !m->running ? "stopped" : ready ? "ready" : "starting");
	printf("address  ssh-ng://" BUILDER_USER "@localhost:%llu (%s)\n",
	       (unsigned long long)(m->running ? m->port : b->settings.port), builder_system());
	if (m->running)
		printf("engine   %s, %s, for %lld s\n", engine_name(m->engine), m->root,
		       (long long)(time(NULL) - m->started));
	printf("limits   network %s", net_mode_name(b->settings.net));
	print_limit("cores", b->settings.cores, "");
	print_limit("memory", b->settings.memory >> 20, " MiB");
	print_limit("idle", b->settings.idle, " s");
	printf("\nkeys     %s\n", b->keys);
	printf("store    %s, %llu MiB\n", b->nix, (unsigned long long)store_size(b) >> 20);
}

static int print_status(struct builder *b, void *data, _unused_ const struct opt_rest *rest,
			struct err *err)
{
	const struct status_args *args = data;
	struct builder_machine machine;
	int r = builder_look(b, &machine, err);
	bool ready = r == 0 && machine.running && !builder_is_locked(b);

	if (r == 0 && args->json)
		print_json(b, &machine, ready);
	else if (r == 0)
		print_text(b, &machine, ready);
	return r;
}

static int cmd_status(int argc, char **argv)
{
	struct status_args args = { 0 };

	return builder_do(argc, argv, &args, print_status);
}

static const struct opt opts[] = {
	{ 0, "json", FLAG(status_args, json), .help = "as one JSON object" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_builder_status = {
	.name = "status",
	.section = SECTION_LOOK,
	.usage = "status [--json]",
	.summary = "whether it runs, where, and how large its store is",
	.description = "Its state is 'ready', 'starting' or 'stopped'.",
	.examples = EXAMPLES("wrapix-builder status --json", "for a program"),
	.syntax = { opts },
	.run = cmd_status,
};
