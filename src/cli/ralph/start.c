/* SPDX-License-Identifier: MIT */
/* ralph start: begins a feature. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/path.h"
#include "cli/ralph/ralph.h"
#include "os/fs.h"

struct start_args {
	bool hidden;
	const char *update;
};

/* "specs/dark-mode.md" and "dark-mode" mean the same. */
static char *name_of(struct arena *arena, const char *spec)
{
	const char *name = path_name(spec);
	size_t n = strlen(name);

	return arena_strndup(arena, name, n > 3 && !strcmp(name + n - 3, ".md") ? n - 3 : n);
}

static int begin(struct work *work, const char *name, const struct start_args *args,
		 struct err *err)
{
	struct arena *a = &work->arena;
	struct feature new = { .name = (char *)name, .hidden = args->hidden }, old = { 0 };
	_cleanup_free_ char *text = NULL;
	struct err none;
	size_t len;
	int r = feature_check_name(name, err);
	bool known = r == 0 && feature_find(&work->db, a, name, &old, &none) == 0;

	if (r < 0)
		return r;
	new.spec = args->hidden ? arena_printf(a, "specs/%s/spec.md", name)
				: arena_printf(a, "%s/%s.md", work->config.specs, name);
	if (known && !args->update) {
		err_usage(err, "there is a feature '%s' already", name);
		return err_hint(err,
				"'ralph use %s' goes on with it; 'ralph start --update %s' changes "
				"its spec",
				name, name);
	}
	if (known)
		new = old;
	if (args->update && work_read_spec(work, &new, &text, &len, err) < 0)
		return err_hint(err, "'ralph start %s' begins a new one", name);
	if (args->hidden)
		r = os_mkdirs(path_parent(a, work_spec_path(work, a, &new)), 0700, err);
	if (r == 0 && !known)
		r = feature_add(&work->db, &new, err);
	if (r == 0)
		r = db_set(&work->db, "current", name, err);
	return r < 0 ? r : work_export(work, err);
}

static bool has_spec(struct work *work, const char *name)
{
	struct feature feature;
	struct err ignored;

	return work_feature(work, name, &feature, &ignored) == 0 &&
	       access(work_spec_path(work, &work->arena, &feature), R_OK) == 0;
}

static int cmd_start(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct start_args args = { 0 };
	struct work work = { 0 };
	struct err err = { 0 };
	const char *name;
	int r, status = cli_parse(argc, argv, &args, &rest);

	if (status != CLI_GO_ON)
		return status;
	if (!rest.n_operands == !args.update)
		return err_usage(&err,
				 "say the name of one feature: 'ralph start NAME' or 'ralph start "
				 "--update SPEC'"),
		       ralph_fail(&err);
	status = ralph_open(&work, NULL, NULL, NULL, false);
	if (status != CLI_GO_ON)
		return status;
	name = rest.n_operands ? rest.operands[0] : name_of(&work.arena, args.update);
	r = begin(&work, name, &args, &err);
	if (r == 0) {
		printf("The feature '%s' is in use%s.\n", name,
		       args.hidden ? "; its spec stays out of the project" : "");
		ralph_next(has_spec(&work, name)
				   ? "ralph plan (an interview about the spec), or ralph ready"
				   : "ralph plan");
	}
	work_close(&work);
	return r < 0 ? ralph_fail(&err) : 0;
}

static const struct opt opts[] = {
	{ 0, "hidden", FLAG(start_args, hidden),
	  .help = "keep the spec outside of the project, where no commit can have it" },
	{ 0, "update", "SPEC", .kind = OPT_STRING, .offset = offsetof(struct start_args, update),
	  .complete = COMPLETE_FILE,
	  .help = "change a spec that is there, instead of beginning a new one" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_start = {
	.name = "start",
	.section = SECTION_MAKE,
	.usage = "start [options] [NAME]",
	.summary = "begin a feature",
	.description =
		"Begins the feature NAME, whose spec will be specs/NAME.md, and makes it the one "
		"in use.",
	.examples = EXAMPLES("ralph start dark-mode", "a new feature",
			     "ralph start --update dark-mode",
			     "change its spec, and do what is new in it"),
	.syntax = { opts, .max = 1, .operand = "NAME" },
	.run = cmd_start,
};
