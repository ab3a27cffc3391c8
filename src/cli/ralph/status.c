/* SPDX-License-Identifier: MIT */
/* ralph status: how far a feature is, and what happens now. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

#include "base/json.h"
#include "cli/ralph/ralph.h"
#include "ralph/logs.h"

struct status_args {
	bool watch, json, all;
};

static void on_last(void *ctx, enum act act, const char *text)
{
	if (act == ACT_TOOL || act == ACT_TEXT || act == ACT_ERROR)
		snprintf(ctx, ACT_TEXT_MAX + 8, "%s", text);
}

/* The sessions that run now, each with its last action. */
static void print_running(struct work *work, const struct attempts *attempts)
{
	for (size_t i = 0; i < attempts->n; i++) {
		const struct attempt *a = &attempts->v[i];
		char last[ACT_TEXT_MAX + 8] = "";
		_cleanup_str_ struct str text = { 0 };
		struct err ignored; /* there may be none yet */

		if (a->verdict != VERDICT_NONE)
			continue;
		if (a->log)
			(void)log_read(work, a->log, true, on_last, last, &ignored);
		add_duration(&text, db_now() - a->started);
		str_addf(&text, "  %s  ", a->item ? a->item : a->phase);
		str_add_escaped(&text, last);
		printf("now: %s\n", text.s);
	}
}

static int print_feature(struct work *work, const struct feature *feature, bool next,
			 struct err *err)
{
	_cleanup_str_ struct str bar = { 0 }, time = { 0 };
	struct story story;
	size_t n;

	if (story_load(&story, work, feature, err) < 0)
		return -err->code;
	n = story.attempts.n;
	add_progress(&bar, &story.count);
	add_duration(&time, story.ms);
	print_title(feature->name, feature->title);
	printf("  %s%s\n", bar.s, feature->hidden ? "  (hidden)" : "");
	printf("%zu %s, $%.2f, %lld tokens in, %lld out, %s\n", n, n == 1 ? "session" : "sessions",
	       story.cost, (long long)story.tokens_in, (long long)story.tokens_out, time.s);
	print_tree(&story.items, stdout);
	print_running(work, &story.attempts);
	if (next)
		say_next(feature, &story.items);
	story_release(&story);
	return 0;
}

static int add_json(struct work *work, const struct feature *feature, struct str *out,
		    struct err *err)
{
	struct story story;

	if (story_load(&story, work, feature, err) < 0)
		return -err->code;
	str_add(out, "{");
	json_add_member(out, "feature", feature->name);
	json_add_member(out, "title", feature->title);
	json_add_member(out, "spec", feature->spec);
	json_add_key(out, "hidden");
	str_add(out, feature->hidden ? "true" : "false");
	json_add_count(out, "total", story.count.total);
	json_add_count(out, "done", story.count.by[ITEM_DONE]);
	json_add_count(out, "ready", story.count.ready);
	json_add_count(out, "sessions", story.attempts.n);
	json_add_key(out, "cost");
	str_addf(out, "%.4f", story.cost);
	json_add_count(out, "tokensIn", (uint64_t)story.tokens_in);
	json_add_count(out, "tokensOut", (uint64_t)story.tokens_out);
	json_add_key(out, "items");
	str_add(out, "[");
	for (size_t i = 0; i < story.items.n; i++) {
		str_add(out, i ? ",\n " : "\n ");
		add_item_json(out, &story.items, &story.items.v[i]);
	}
	str_add(out, "]}");
	story_release(&story);
	return 0;
}

static int show(struct work *work, const struct feature *list, size_t n,
		const struct status_args *args, struct err *err)
{
	_cleanup_str_ struct str out = { 0 };
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		if (args->json) {
			str_add(&out, i ? ",\n" : "");
			r = add_json(work, &list[i], &out, err);
		} else {
			r = print_feature(work, &list[i], n == 1 && !args->watch, err);
		}
	}
	if (r == 0 && args->json)
		printf(args->all ? "[%s]\n" : "%s\n", out.s ? out.s : "");
	return r;
}

/* Again each second, until the user has seen enough. Every look is a fresh one. */
static int watch(struct work *work, const struct feature *list, size_t n,
		 const struct status_args *args, struct err *err)
{
	bool terminal = isatty(STDOUT_FILENO);
	int r = 0;

	while (r == 0 && !ferror(stdout)) {
		if (terminal)
			printf("\x1b[H\x1b[2J");
		r = show(work, list, n, args, err);
		fflush(stdout);
		poll(NULL, 0, 1000);
	}
	return r;
}

static int cmd_status(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct status_args args = { 0 };
	struct feature one, *list = &one;
	struct work work = { 0 };
	struct err err = { 0 };
	size_t n = 1;
	int r = 0, status = cli_parse(argc, argv, &args, &rest);

	if (status == CLI_GO_ON)
		status = ralph_open(&work, NULL, &rest, args.all ? NULL : &one, false);
	if (status != CLI_GO_ON)
		return status;
	if (args.all)
		r = feature_list(&work.db, &work.arena, &list, &n, &err);
	if (r == 0)
		r = (args.watch ? watch : show)(&work, list, n, &args, &err);
	if (r == 0 && !n && !args.json)
		ralph_next("ralph start NAME");
	work_close(&work);
	return r < 0 ? ralph_fail(&err) : 0;
}

static const struct opt opts[] = {
	{ 'w', "watch", FLAG(status_args, watch), .help = "show it again each second" },
	{ 'a', "all", FLAG(status_args, all), .help = "of all features" },
	{ 0, "json", FLAG(status_args, json), .help = "for programs" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_status = {
	.name = "status",
	.section = SECTION_WATCH,
	.usage = "status [options] [FEATURE]",
	.summary = "how far it is, what happens now, what it has cost",
	.examples = EXAMPLES("ralph status --watch", "in a second terminal, while a loop runs"),
	.syntax = { opts, FEATURE_OPERAND },
	.run = cmd_status,
};
