/* SPDX-License-Identifier: MIT */
/* ralph report: what was built, step by step, with diffs, cost and time. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "cli/ralph/ralph.h"
#include "os/fs.h"

struct report_args {
	bool diff, json;
};

static void add_time(struct str *out, int64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	char text[32] = "";
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &tm);
	str_add(out, text);
}

/* Files and lines of a diff in git's format. */
static void count_diff(const char *diff, size_t *files, size_t *added, size_t *removed)
{
	bool in_hunk = false;

	for (const char *p = diff; *p; p += strcspn(p, "\n"), p += *p == '\n') {
		if (str_starts(p, "diff --git ")) {
			*files += 1;
			in_hunk = false;
		} else if (str_starts(p, "@@ ")) {
			in_hunk = true;
		} else if (in_hunk) {
			*added += *p == '+';
			*removed += *p == '-';
		}
	}
}

static void print_attempt(struct work *work, const struct attempt *a, const struct items *items,
			  bool with_diff)
{
	_cleanup_str_ struct str line = { 0 };
	_cleanup_free_ char *diff = NULL;
	const struct item *item = items_find(items, a->item);
	size_t len, files = 0, added = 0, removed = 0;

	str_add(&line, "\n## ");
	str_add_escaped(&line, item ? item->title : a->phase);
	str_add(&line, "\n\n");
	add_time(&line, a->started);
	str_add(&line, ", ");
	add_duration(&line, (a->ended ? a->ended : db_now()) - a->started);
	str_addf(&line, ", $%.2f, %lld tokens in, %lld out: **%s**\n", a->cost,
		 (long long)a->tokens_in, (long long)a->tokens_out, verdict_name(a->verdict));
	if (a->reason && *a->reason) {
		str_add(&line, "\n> ");
		str_add_escaped(&line, a->reason);
		str_add(&line, "\n");
	}
	if (a->patch && os_read_file_at(AT_FDCWD, work_file(work, &work->arena, "%s", a->patch),
					64 << 20, &diff, &len) == 0) {
		count_diff(diff, &files, &added, &removed);
		str_addf(&line, "\n%zu %s, +%zu -%zu%s%s\n", files, files == 1 ? "file" : "files",
			 added, removed, a->commit ? ", commit " : "", a->commit ? a->commit : "");
	}
	if (with_diff && diff && *diff) {
		str_add(&line, "\n```diff\n");
		str_add_visible(&line, diff, strlen(diff));
		str_add(&line, "```\n");
	}
	fputs(line.s, stdout);
}

static void add_json(struct str *out, const struct attempt *a, const struct items *items)
{
	const struct item *item = items_find(items, a->item);

	str_add(out, "{");
	json_add_count(out, "session", (uint64_t)a->id);
	json_add_member(out, "phase", a->phase);
	json_add_member(out, "item", a->item);
	json_add_member(out, "title", item ? item->title : NULL);
	json_add_member(out, "verdict", verdict_name(a->verdict));
	json_add_member(out, "reason", a->reason);
	json_add_member(out, "commit", a->commit);
	json_add_count(out, "started", (uint64_t)a->started);
	json_add_count(out, "ended", (uint64_t)a->ended);
	json_add_key(out, "cost");
	str_addf(out, "%.4f", a->cost);
	json_add_count(out, "tokensIn", (uint64_t)a->tokens_in);
	json_add_count(out, "tokensOut", (uint64_t)a->tokens_out);
	str_add(out, "}");
}

static int report(struct work *work, const struct feature *feature, const struct report_args *args,
		  struct err *err)
{
	_cleanup_str_ struct str out = { 0 }, bar = { 0 };
	const struct attempts *attempts;
	struct story story;

	if (story_load(&story, work, feature, err) < 0)
		return -err->code;
	attempts = &story.attempts;
	add_progress(&bar, &story.count);
	for (size_t i = 0; args->json && i < attempts->n; i++) {
		str_add(&out, i ? ",\n " : "\n ");
		add_json(&out, &attempts->v[i], &story.items);
	}
	if (args->json) {
		printf("[%s]\n", out.s ? out.s : "");
	} else {
		printf("# ");
		print_title(feature->name, feature->title);
		printf("\n\n%s, %zu session%s, $%.2f\n\n", bar.s, attempts->n,
		       attempts->n == 1 ? "" : "s", story.cost);
		print_tree(&story.items, stdout);
		for (size_t i = 0; i < attempts->n; i++)
			print_attempt(work, &attempts->v[i], &story.items, args->diff);
	}
	story_release(&story);
	return 0;
}

static int cmd_report(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct report_args args = { 0 };
	struct feature feature;
	struct work work = { 0 };
	struct err err = { 0 };
	int r, status = cli_parse(argc, argv, &args, &rest);

	if (status == CLI_GO_ON)
		status = ralph_open(&work, NULL, &rest, &feature, false);
	if (status != CLI_GO_ON)
		return status;
	r = report(&work, &feature, &args, &err);
	if (r == 0 && !args.json)
		say_next_of(&work, feature.name);
	work_close(&work);
	return r < 0 ? ralph_fail(&err) : 0;
}

static const struct opt opts[] = {
	{ 'd', "diff", FLAG(report_args, diff), .help = "with the diff of each step" },
	{ 0, "json", FLAG(report_args, json), .help = "for programs" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_ralph_report = {
	.name = "report",
	.section = SECTION_WATCH,
	.usage = "report [options] [FEATURE]",
	.summary = "what was built, session by session, with cost and time",
	.description =
		"Markdown on standard output: every session of a feature, how it ended, what it "
		"changed and what it cost.",
	.examples = EXAMPLES("ralph report --diff >report.md", "a page to keep"),
	.syntax = { opts, FEATURE_OPERAND },
	.run = cmd_report,
};
