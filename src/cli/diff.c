/* SPDX-License-Identifier: MIT */
/* wrapix diff: what a copy-on-write session changed. */
#include <string.h>

#include "base/json.h"
#include "cli/cli.h"
#include "cli/cow.h"
#include "cow/show.h"

struct diff_args {
	bool stat, name_only, json;
};

struct view {
	const struct diff_args *args;
	struct cow_target target;
	struct changes changes;
	bool color, plain; /* plain: bytes as they are, for a program */
};

static bool is_shown(const struct view *view, size_t i)
{
	return change_is_chosen(&view->changes.v[i], view->target.paths, view->target.n_paths) &&
	       !change_is_implied(&view->changes, i);
}

static const char *line_color(const char *line)
{
	static const struct {
		const char *begin, *color;
	} rows[] = {
		{ "diff ", "1" },    { "--- ", "1" },    { "+++ ", "1" },        { "@@ ", "36" },
		{ "+", "32" },       { "-", "31" },      { "new ", "1" },        { "old ", "1" },
		{ "deleted ", "1" }, { "rename ", "1" }, { "similarity ", "1" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (str_starts(line, rows[i].begin))
			return rows[i].color;
	return NULL;
}

/* Line by line, so that colour never spans what the sandbox wrote. */
static void print_diff(const struct view *view, const struct str *diff)
{
	_cleanup_str_ struct str out = { 0 };

	if (view->plain && !view->color) {
		fwrite(diff->s, 1, diff->len, stdout);
		return;
	}
	for (size_t at = 0; at < diff->len;) {
		const char *line = diff->s + at, *end = memchr(line, '\n', diff->len - at);
		size_t len = end ? (size_t)(end - line) : diff->len - at;
		const char *color = view->color ? line_color(line) : NULL;

		if (color)
			str_addf(&out, "\033[%sm", color);
		str_add_visible(&out, line, len);
		str_add(&out, color ? "\033[m\n" : "\n");
		at += len + 1;
	}
	fwrite(out.s, 1, out.len, stdout);
}

/* A directory, or a mode: one line. */
static void print_bare(const struct view *view, const struct change *change, const char *name)
{
	const struct node *old = change->from ? &change->from_node : &change->old;
	FILE *out = view->plain ? stderr : stdout;

	if (!node_exists(&change->new) && S_ISDIR(old->mode))
		fprintf(out, "wrapix: the directory %s is removed\n", name);
	else if (!node_exists(old) && S_ISDIR(change->new.mode))
		fprintf(out, "wrapix: the directory %s is new\n", name);
	else if (change_has_mode(change))
		fprintf(out, "wrapix: the mode of %s changes from %04o to %04o\n", name,
			(unsigned)old->mode & 07777, (unsigned)change->new.mode & 0777);
}

/* What is about the change and not in it: on standard error where a program reads the diff. */
static void print_remark(const struct view *view, const struct change *change)
{
	_cleanup_str_ struct str name = { 0 };

	add_quoted_name(&name, "", change->path);
	if (change->status == CHANGE_IGNORED)
		fprintf(view->plain ? stderr : stdout, "wrapix: %s is not taken over: %s\n", name.s,
			change->why);
	else
		print_bare(view, change, name.s);
	if (change_is_open(change))
		fprintf(view->plain ? stderr : stdout,
			"wrapix: everybody on this machine may write %s (mode %04o)\n", name.s,
			(unsigned)change->new.mode & 0777);
	if (change->conflict)
		fprintf(view->plain ? stderr : stdout, "wrapix: conflict in %s: %s\n", name.s,
			conflict_text(change->conflict));
}

static void print_full(const struct view *view)
{
	for (size_t i = 0; i < view->changes.n; i++) {
		_cleanup_str_ struct str diff = { 0 };

		if (!is_shown(view, i))
			continue;
		print_remark(view, &view->changes.v[i]);
		change_add_diff(&diff, &view->target.cow, &view->changes.v[i]);
		if (diff.len)
			print_diff(view, &diff);
		if (ferror(stdout))
			return;
	}
}

static void print_stat_line(const struct view *view, const struct change *change,
			    struct unified_stat *sum)
{
	_cleanup_str_ struct str line = { 0 };
	struct unified_stat stat = { 0 };
	const struct node *old = change->from ? &change->from_node : &change->old;
	mode_t mode = node_exists(&change->new) ? change->new.mode : change->old.mode;

	str_addf(&line, "%c ", change->status);
	if (change->from) {
		add_quoted_name(&line, "", change->from);
		str_add(&line, " => ");
	}
	add_quoted_name(&line, "", change->path);
	str_add(&line, S_ISDIR(mode) ? "/" : S_ISLNK(mode) ? " (link)" : "");
	if (change->status == CHANGE_IGNORED)
		str_addf(&line, "  not taken over: %s", change->why);
	else if (!change_count(&view->target.cow, change, &stat))
		str_add(&line, "  binary");
	else if (stat.added || stat.removed)
		str_addf(&line, "  +%zu -%zu", stat.added, stat.removed);
	if (change_has_mode(change))
		str_addf(&line, "  mode %04o => %04o", (unsigned)old->mode & 07777,
			 (unsigned)change->new.mode & 0777);
	else if (change_is_open(change))
		str_addf(&line, "  mode %04o", (unsigned)change->new.mode & 0777);
	if (change->sensitive && change->status != CHANGE_IGNORED)
		str_addf(&line, "  [%s]", change->sensitive);
	if (change->conflict)
		str_addf(&line, "  conflict: %s", conflict_text(change->conflict));
	printf("%s\n", line.s);
	sum->added += stat.added;
	sum->removed += stat.removed;
}

static void print_stat(const struct view *view)
{
	struct unified_stat sum = { 0 };
	size_t n = 0, conflicts = 0;

	for (size_t i = 0; i < view->changes.n; i++) {
		if (!is_shown(view, i))
			continue;
		print_stat_line(view, &view->changes.v[i], &sum);
		conflicts += view->changes.v[i].conflict != CONFLICT_NONE;
		n++;
	}
	printf("%zu changed, +%zu -%zu lines", n, sum.added, sum.removed);
	if (conflicts)
		printf(", %zu in conflict with what you changed meanwhile", conflicts);
	printf("\n");
}

static void print_names(const struct view *view)
{
	for (size_t i = 0; i < view->changes.n; i++) {
		_cleanup_str_ struct str name = { 0 };

		if (!is_shown(view, i))
			continue;
		add_quoted_name(&name, "", view->changes.v[i].path);
		printf("%s\n", name.s);
	}
}

static void print_json(const struct view *view)
{
	const struct cow *cow = &view->target.cow;
	_cleanup_str_ struct str out = { 0 };
	bool first = true;

	str_add(&out, "{\"session\": ");
	json_add_string(&out, cow->id);
	str_add(&out, ", \"name\": ");
	json_add_string(&out, cow->name);
	str_add(&out, ", \"project\": ");
	json_add_string(&out, cow->project);
	str_addf(&out, ", \"gitChanged\": %s, \"changes\": [",
		 view->changes.git ? "true" : "false");
	for (size_t i = 0; i < view->changes.n; i++) {
		if (!change_is_chosen(&view->changes.v[i], view->target.paths,
				      view->target.n_paths))
			continue;
		str_add(&out, first ? "\n  " : ",\n  ");
		change_add_json(&out, cow, &view->changes.v[i]);
		first = false;
	}
	printf("%s%s]}\n", out.s, first ? "" : "\n");
}

static void print_changes(struct view *view)
{
	struct pager pager = { 0 };

	if (view->args->json) {
		print_json(view);
		return;
	}
	view->color = cli_color(stdout);
	view->plain = !isatty(STDOUT_FILENO);
	pager_start(&pager);
	(view->args->stat ? print_stat : view->args->name_only ? print_names : print_full)(view);
	if (view->changes.git && !view->args->name_only)
		fprintf(view->plain ? stderr : stdout,
			"wrapix: what the session did in .git stays in the session\n");
	pager_stop(&pager);
}

static int cmd_diff(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct diff_args args = { 0 };
	struct view view = { .args = &args, .target = COW_TARGET_NONE };
	struct err err;
	int r, status = cli_parse(argc, argv, &args, &rest);

	if (status != CLI_GO_ON)
		return status;
	r = cli_cow_open(&view.target, rest.operands, rest.n_operands, &err);
	if (r == 0)
		r = cli_cow_changes(&view.target, &view.changes, &err);
	if (r == 0)
		print_changes(&view);
	changes_release(&view.changes);
	cli_cow_close(&view.target);
	return r < 0 ? cli_fail(&err) : 0;
}

static const struct opt opts[] = {
	{ 0, "stat", FLAG(diff_args, stat),
	  .help = "one line a file, with the lines it gains and loses" },
	{ 0, "name-only", FLAG(diff_args, name_only), .help = "only the names" },
	{ 0, "json", FLAG(diff_args, json),
	  .help = "print the changes as JSON, without their text" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_diff = {
	.name = "diff",
	.section = SECTION_SESSIONS,
	.usage = "diff [SESSION] [PATH...] [options]",
	.summary = "show what a copy-on-write session changed",
	.description = "Compares what a session of 'wrapix run --workspace cow' made with the "
		       "project as it is now, in git's format, and says where you changed the same "
		       "files meanwhile. SESSION is an id or a name; without one it is the latest "
		       "of this project. PATHs limit it to files and directories.",
	.examples = EXAMPLES("wrapix diff", "what the latest session here changed",
			     "wrapix diff --stat site src",
			     "what the session 'site' changed in src, in short"),
	.syntax = { opts, .max = -1U, .operand = "SESSION", .complete = COMPLETE_SESSION },
	.run = cmd_diff,
};
