/* SPDX-License-Identifier: MIT */
/* wrapix trust: shows what a project asks for, and remembers that the user agreed to exactly that. */
#include <errno.h>
#include <stdarg.h>

#include "api/api.h"
#include "base/json.h"
#include "cli/cli.h"
#include "os/fs.h"
#include "os/tty.h"
#include "spec/project.h"

/* A usual terminal; and the lines on it that are not the list's. */
enum { ROWS = 24, COLUMNS = 80, ROWS_BESIDE = 4 };

struct trust_args {
	bool yes, revoke, json;
};

/* What was shown, and the lines that it took, on a terminal of this size. */
struct listed {
	size_t things, lines, rows, columns;
};

/* A long list has gone from the screen, or the beginning of a long value: how much it is stands where one looks. */
static bool agreed(const struct listed *listed)
{
	char question[64] = "Accept this?";
	bool gone = listed->lines > 1 &&
		    listed->lines + ROWS_BESIDE > MIN(listed->rows, (size_t)ROWS);

	if (gone && listed->things > 1)
		snprintf(question, sizeof(question), "Accept all %zu of these?", listed->things);
	else if (gone)
		snprintf(question, sizeof(question), "Accept this, all %zu lines of it?",
			 listed->lines);
	return cli_ask(question);
}

/* Directories may be called as whoever made the project likes. */
static void say(const char *before, const char *path, const char *after)
{
	_cleanup_str_ struct str shown = { 0 };

	str_add_escaped(&shown, path);
	printf("%s%s%s\n", before, shown.s, after);
}

_printf_(2, 3) static void show(struct listed *listed, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vprintf(fmt, args);
	va_end(args);
	listed->lines += 1 + (size_t)MAX(n, 0) / listed->columns;
	putchar('\n');
	listed->things++;
}

static void show_all(const struct project_config *project, struct listed *listed)
{
	say("", project->path, " asks for:");
	for (size_t i = 0; i < project->n_widenings; i++)
		show(listed, "  %s: %s", project->widenings[i].key, project->widenings[i].shown);
	for (size_t i = 0; i < project->n_others; i++)
		show(listed, "  %s: %s, %s", project->others[i].key, project->others[i].shown,
		     project->others[i].when);
	for (size_t i = 0; i < project->n_profiles; i++) {
		_cleanup_str_ struct str name = { 0 };

		str_add_escaped(&name, project->profiles[i].name);
		show(listed, "  profile %s: its packages, where you make an image of it", name.s);
	}
	if (project->has_ralph)
		show(listed, "  ralph: with --host, its gate, hooks and [verify] programs run "
			     "outside of any sandbox; with \"push\" your own git pushes");
}

static const char *until(const struct project_config *project)
{
	return project->n_profiles ? "until the file or a profile changes"
				   : "until the file changes";
}

static void add_asked(struct str *out, const char *key, const struct widening *list, size_t n)
{
	json_add_key(out, key);
	str_add(out, "[");
	for (size_t i = 0; i < n; i++) {
		str_add(out, i ? ",\n  {" : "\n  {");
		json_add_member(out, "key", list[i].key);
		json_add_member(out, "value", list[i].shown);
		if (list[i].when)
			json_add_member(out, "when", list[i].when);
		str_add(out, "}");
	}
	str_add(out, "]");
}

static bool asks(const struct project_config *project)
{
	return project->n_widenings || project->n_others || project->has_ralph ||
	       project->n_profiles;
}

/* A look, for programs: nobody is asked, and nothing accepted. */
static void print_json(const struct project_config *project, const char *dir, const char *state)
{
	_cleanup_str_ struct str out = { 0 };
	bool any = project->path && asks(project);

	str_add(&out, "{");
	json_add_member(&out, "path", project->path);
	json_add_key(&out, "trusted");
	str_add(&out, any && trust_is_complete(project, dir, state) ? "true" : "false");
	json_add_key(&out, "needsTrust");
	str_add(&out, any ? "true" : "false");
	add_asked(&out, "asks", project->widenings, project->n_widenings);
	add_asked(&out, "asksLater", project->others, project->n_others);
	json_add_key(&out, "profiles");
	str_add(&out, "[");
	for (size_t i = 0; i < project->n_profiles; i++) {
		str_add(&out, i ? "," : "");
		json_add_string(&out, project->profiles[i].name);
	}
	str_add(&out, "]");
	json_add_key(&out, "ralph");
	str_add(&out, project->has_ralph ? "true}" : "false}");
	puts(out.s);
}

static int trust(const struct project_config *project, const char *dir, const char *state,
		 const struct trust_args *args, struct err *err)
{
	unsigned size = (unsigned)tty_size(STDOUT_FILENO);
	struct listed listed = {
		.rows = size >> 16 ? size >> 16 : ROWS,
		.columns = size & 0xffff ? size & 0xffff : COLUMNS,
	};

	if (args->json) {
		print_json(project, dir, state);
		return 0;
	}
	if (!project->path) {
		say("'", dir, "' has no wrapix.json; there is nothing to trust.");
		return 0;
	}
	if (!asks(project)) {
		say("", project->path, " asks for nothing beyond the defaults; it needs no trust.");
		return 0;
	}
	show_all(project, &listed);
	if (trust_is_complete(project, dir, state)) {
		printf("Trusted already, %s.\n", until(project));
		return 0;
	}
	if (!args->yes && !isatty(STDIN_FILENO)) {
		_cleanup_str_ struct str named = { 0 };

		str_add_shell(&named, dir);
		err_usage(err, "not on a terminal, so nobody can be asked");
		return err_hint(err, "wrapix trust %s --yes, when you have read the list above",
				named.s);
	}
	if (!args->yes && !agreed(&listed))
		return err_set(err, 1, "not trusted; nothing was changed");
	if (trust_record(project, dir, state, err) < 0)
		return -err->code;
	printf("Trusted %s.\n", until(project));
	return 0;
}

static int take_back(struct arena *arena, const char *dir, const char *state, struct err *err)
{
	char *config_dir = project_config_dir(arena, dir);
	int r = trust_revoke(config_dir ? config_dir : dir, state, err);

	if (r == 0)
		say("'", config_dir ? config_dir : dir, "' is not trusted.");
	return r;
}

static int cmd_trust(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct project_config project = { 0 };
	struct trust_args args = { 0 };
	struct spec spec;
	struct err err;
	char *dir, *state;
	int r = 0, status = cli_parse(argc, argv, &args, &rest);

	if (status != CLI_GO_ON)
		return status;
	if (args.json && (args.yes || args.revoke)) {
		err_usage(&err, "--json shows, and changes nothing: without --yes and --revoke");
		return cli_fail(&err);
	}
	spec_init(&spec);
	if (rest.n_operands)
		spec.dir = arena_strdup(&spec.arena, rest.operands[0]);
	state = cli_state_home(&spec.arena);
	dir = rest.n_operands ? os_realpath(&spec.arena, spec.dir) : os_here(&spec.arena, &err);
	if (!dir)
		r = rest.n_operands ? err_errno(&err, errno, "opening '%s'", spec.dir) : -err.code;
	else if (args.revoke)
		r = take_back(&spec.arena, dir, state, &err);
	else
		r = spec_load_layers(&spec, &project, &err);
	/* Those that nobody has named yet are accepted with the rest. */
	if (r == 0 && !args.revoke)
		r = config_judge_profiles(
			&project, api_base_dir(&spec.arena, "XDG_CONFIG_HOME", ".config"), &err);
	if (r == 0 && !args.revoke)
		r = trust(&project, spec.config_dir ? spec.config_dir : dir, state, &args, &err);
	project_config_release(&project);
	spec_release(&spec);
	return r < 0 ? cli_fail(&err) : 0;
}

static const struct opt opts[] = {
	{ 0, "revoke", FLAG(trust_args, revoke), .help = "trust this project no longer" },
	{ 'y', "yes", FLAG(trust_args, yes), .help = "do not ask" },
	{ 0, "json", FLAG(trust_args, json),
	  .help = "what it asks for, for programs; accepts nothing" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_trust = {
	.name = "trust",
	.section = SECTION_HOST,
	.usage = "trust [DIR] [options]",
	.summary = "accept what a project's wrapix.json asks for",
	.description = "Shows what the wrapix.json in DIR (default: here) asks for beyond the "
		       "defaults, and remembers that you accept exactly this content. A change of "
		       "the file needs a new look.",
	.examples = EXAMPLES("wrapix trust", "look at this project's wishes, and accept",
			     "wrapix trust --revoke", "take it back"),
	.syntax = { opts, .max = 1, .operand = "DIR", .complete = COMPLETE_DIR },
	.run = cmd_trust,
};
