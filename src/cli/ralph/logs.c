/* SPDX-License-Identifier: MIT */
/* ralph logs: what the agent of a session did. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "cli/ralph/ralph.h"
#include "ralph/logs.h"

struct logs_args {
	const char *lines;
	bool list, all, raw;
};

struct tail {
	struct arena arena;
	struct strv lines;
};

static void on_act(void *ctx, enum act act, const char *text)
{
	static const char marks[] = " ~><!=?";
	struct tail *tail = ctx;
	_cleanup_str_ struct str line = { 0 };

	str_addf(&line, "%c ", marks[act]);
	str_add_escaped(&line, text);
	strv_add(&tail->arena, &tail->lines, line.s);
}

static void print_list(const struct attempts *attempts)
{
	for (size_t i = 0; i < attempts->n; i++) {
		const struct attempt *a = &attempts->v[i];
		_cleanup_str_ struct str time = { 0 };

		add_duration(&time, (a->ended ? a->ended : db_now()) - a->started);
		printf("%-5lld %-8s %-8s %-11s %8s  $%.2f\n", (long long)a->id, a->phase,
		       a->item ? a->item : "-", verdict_name(a->verdict), time.s, a->cost);
	}
}

/* By number or by item, the last one when nothing is said. */
static const struct attempt *find(const struct attempts *attempts, const char *word)
{
	for (size_t i = attempts->n; i-- > 0;) {
		const struct attempt *a = &attempts->v[i];
		char number[24];

		snprintf(number, sizeof(number), "%lld", (long long)a->id);
		if (a->log &&
		    (!word || !strcmp(word, number) || (a->item && !strcmp(word, a->item))))
			return a;
	}
	return NULL;
}

static int print_log(struct work *work, const struct attempt *a, const struct logs_args *args,
		     struct err *err)
{
	struct tail tail = { 0 };
	size_t most = args->all ? SIZE_MAX : 40;
	int r;

	if (args->lines)
		most = strtoul(args->lines, NULL, 10);
	if (args->raw) {
		printf("%s\n", work_file(work, &work->arena, "%s", a->log));
		return 0;
	}
	r = log_read(work, a->log, false, on_act, &tail, err);
	if (r == 0) {
		printf("session %lld, %s%s%s: %s", (long long)a->id, a->phase, a->item ? " " : "",
		       a->item ? a->item : "", verdict_name(a->verdict));
		if (a->reason && *a->reason) {
			printf(": ");
			print_plain(a->reason);
		}
		printf("\n");
	}
	for (size_t i = tail.lines.len > most ? tail.lines.len - most : 0;
	     r == 0 && i < tail.lines.len; i++)
		puts(tail.lines.v[i]);
	if (r == 0 && a->errors && a->verdict != VERDICT_COMPLETE) {
		printf("what went wrong:\n");
		print_plain(a->errors);
		printf("\n");
	}
	arena_release(&tail.arena);
	return r;
}

static int cmd_logs(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct attempts attempts = { 0 };
	struct logs_args args = { 0 };
	struct work work = { 0 };
	struct err err = { 0 };
	const struct attempt *a;
	int r, status = cli_parse(argc, argv, &args, &rest);

	if (status == CLI_GO_ON)
		status = ralph_open(&work, NULL, NULL, NULL, false);
	if (status != CLI_GO_ON)
		return status;
	r = attempts_load(&work.db, NULL, NULL, &attempts, &err);
	a = r == 0 ? find(&attempts, rest.n_operands ? rest.operands[0] : NULL) : NULL;
	if (r == 0 && args.list)
		print_list(&attempts);
	else if (r == 0 && a)
		r = print_log(&work, a, &args, &err);
	else if (r == 0) {
		err_usage(&err, "there is no log%s%s", rest.n_operands ? " of " : " yet",
			  rest.n_operands ? rest.operands[0] : "");
		r = err_hint(&err, rest.n_operands
					   ? "'ralph logs --list' has those there are"
					   : "'ralph step' or 'ralph loop' makes the first");
	}
	if (r == 0 && !args.raw)
		say_next_of(&work, args.list || !a ? NULL : a->feature);
	attempts_release(&attempts);
	work_close(&work);
	return r < 0 ? ralph_fail(&err) : 0;
}

static const struct opt opts[] = {
	{ 'n', "lines", "N", .kind = OPT_STRING, .offset = offsetof(struct logs_args, lines),
	  .help = "the last N lines (default: 40)" },
	{ 'a', "all", FLAG(logs_args, all), .help = "all lines" },
	{ 'l', "list", FLAG(logs_args, list), .help = "list the sessions instead" },
	{ 0, "raw", FLAG(logs_args, raw), .help = "print where the agent's own lines are" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_logs = {
	.name = "logs",
	.section = SECTION_WATCH,
	.usage = "logs [options] [ITEM|SESSION]",
	.summary = "what an agent did, a line an action, and what went wrong",
	.description =
		"Of the last session, or of the last one of an item, or of the session of that "
		"number. '>' is a tool, '<' its answer, '!' an error, '=' the result.",
	.examples = EXAMPLES("ralph logs", "the last session", "ralph logs --list", "all of them"),
	.syntax = { opts, .max = 1, .operand = "ITEM" },
	.run = cmd_logs,
};
