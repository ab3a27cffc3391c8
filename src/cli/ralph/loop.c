/* SPDX-License-Identifier: MIT */
/* ralph step and ralph loop: one task, or all of them. */
#include <errno.h>
#include <string.h>

#include "cli/ralph/ralph.h"

struct loop_args {
	const char *agent, *item, *parallel, *max_steps, *max_cost, *max_time;
	bool host, wait, push, verbose;
};

static int number(const char *option, const char *text, double max, double *ret, struct err *err)
{
	char *end;
	double n = strtod(text, &end);

	if (end == text || *end || !(n > 0 && n <= max))
		return err_usage(err, "%s: '%s' is no number above 0, up to %.0f", option, text,
				 max);
	*ret = n;
	return 0;
}

static int whole(const char *option, const char *text, int64_t max, int64_t *ret, struct err *err)
{
	double n = 0;
	int r = number(option, text, (double)max, &n, err);

	if (r == 0 && n != (double)(int64_t)n)
		return err_usage(err, "%s: '%s' is no whole number", option, text);
	if (r == 0)
		*ret = (int64_t)n;
	return r;
}

/* What the configuration says, and over it the command line. */
static int options_of(const struct loop_args *args, const struct work *work, bool once,
		      struct drive_options *ret, struct err *err)
{
	const struct ralph_config *config = &work->config;
	int r = 0;

	*ret = (struct drive_options){
		.parallel = once ? 1 : config->parallel,
		.max_steps = once ? 1 : config->max_steps,
		.max_cost = config->max_cost,
		.max_time = config->max_time,
		.item = args->item,
		.wait = args->wait,
		.push = args->push || config->push,
		.once = once,
	};
	if (args->parallel)
		r = whole("--parallel", args->parallel, DRIVE_PARALLEL_MAX, &ret->parallel, err);
	if (r == 0 && args->max_steps)
		r = whole("--max-steps", args->max_steps, 100000, &ret->max_steps, err);
	if (r == 0 && args->max_cost)
		r = number("--max-cost", args->max_cost, 1e6, &ret->max_cost, err);
	if (r == 0 && args->max_time)
		r = parse_duration(args->max_time, &ret->max_time, err);
	if (r == 0 && ret->push && !args->push && config->push_asked)
		r = ralph_config_is_trusted(config, &work->site, err);
	return r;
}

static void print_end(struct work *work, const struct feature *feature,
		      const struct drive_result *result, bool once)
{
	_cleanup_str_ struct str bar = { 0 };
	struct item_count count;
	struct items items;
	struct err ignored;

	if (items_load(&work->db, feature->name, &items, &ignored) < 0)
		return;
	items_count(&items, &count);
	add_progress(&bar, &count);
	if (result->why[0]) {
		printf("It ended because ");
		print_plain(result->why);
		printf(".\n");
	}
	if (!result->steps && !count.total)
		printf("There are no tasks.\n");
	else if (count.total && count.by[ITEM_DONE] == count.total)
		printf("All tasks of '%s' are done.\n", feature->name);
	else if (result->status == DRIVE_STUCK)
		printf("No task can go on.\n");
	printf("%s %s  %zu %s, $%.2f\n", feature->name, bar.s, result->steps,
	       result->steps == 1 ? "step" : "steps", result->cost);
	if (!once && count.total && count.by[ITEM_DONE] == count.total && result->steps)
		work_notify(work, "ralph is done", feature->name);
	else if (!once && result->status != DRIVE_DONE && result->steps)
		work_notify(work, "ralph is stuck", feature->name);
	say_next(feature, &items);
	items_release(&items);
}

/* What a single step is told apart by. */
static int step_status(const struct drive_result *result)
{
	if (!result->steps)
		return result->status == DRIVE_DONE ? DRIVE_NOTHING : result->status;
	if (result->why[0]) /* a hook, a signal */
		return result->status;
	if (result->last == VERDICT_BLOCKED || result->last == VERDICT_CLARIFY)
		return DRIVE_STUCK;
	return result->done ? DRIVE_DONE : DRIVE_FAILED;
}

static int run(int argc, char **argv, bool once)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct loop_args args = { 0 };
	struct drive_options options;
	struct drive_result result;
	struct feature feature;
	struct work work = { 0 };
	struct err err = { 0 };
	int r, status = cli_parse(argc, argv, &args, &rest);

	if (status == CLI_GO_ON)
		status = ralph_open(&work, args.agent, &rest, &feature, args.verbose);
	if (status != CLI_GO_ON)
		return status;
	r = options_of(&args, &work, once, &options, &err);
	if (r == 0 && args.host)
		r = work_use_host(&work, &err);
	if (r == 0)
		r = drive_feature(&work, &feature, &options, &result, &err);
	if (r == 0) {
		print_end(&work, &feature, &result, once);
		status = once ? step_status(&result) : result.status;
	}
	work_close(&work);
	return r < 0 ? ralph_fail(&err) : status;
}

static int cmd_step(int argc, char **argv)
{
	return run(argc, argv, true);
}

static int cmd_loop(int argc, char **argv)
{
	return run(argc, argv, false);
}

#define TEXT(field) .kind = OPT_STRING, .offset = offsetof(struct loop_args, field)

static const struct opt shared_opts[] = {
	{ 0, "agent", "NAME|PATH", TEXT(agent), .complete = COMPLETE_PROGRAM,
	  .help = "the agent that does the work" },
	{ 0, "push", FLAG(loop_args, push), .help = "push each commit, after its gate" },
	{ 0, "host", FLAG(loop_args, host),
	  .help = "run hooks on the host, when 'wrapix trust' has accepted wrapix.json" },
	{ 0, "wait", FLAG(loop_args, wait),
	  .help = "when another ralph works on the feature, wait for it" },
	{ 'v', "verbose", FLAG(loop_args, verbose), .help = "show all that the agent does" },
	HELP,
	{ .kind = OPT_END },
};

static const struct opt step_opts[] = {
	{ 0, "item", "ID", TEXT(item), .help = "this task, not the next one" },
	{ .kind = OPT_MORE, .more = shared_opts },
};

static const struct opt loop_opts[] = {
	{ 'p', "parallel", "N", TEXT(parallel), .help = "work on this many tasks at once" },
	{ 0, "max-steps", "N", TEXT(max_steps), .help = "end after so many steps" },
	{ 0, "max-cost", "DOLLARS", TEXT(max_cost), .help = "end when it has cost this much" },
	{ 0, "max-time", "TIME", TEXT(max_time), .help = "begin no step after this time, as 2h" },
	{ .kind = OPT_MORE, .more = shared_opts },
};

const struct command command_step = {
	.name = "step",
	.section = SECTION_MAKE,
	.usage = "step [options] [FEATURE]",
	.summary = "do the next task, in a fresh sandbox",
	.description = "Takes the next task that waits for no other, has a fresh agent do it on a "
		       "view of the project, and takes over what it did when the gate agrees. The "
		       "exit status is 0 when the task is done, 1 when it failed, 100 when there "
		       "is nothing to do, 101 when no task can go on.",
	.examples = EXAMPLES("ralph step", "the next task"),
	.syntax = { step_opts, FEATURE_OPERAND },
	.run = cmd_step,
};

#define LOOP_SYNTAX .syntax = { loop_opts, FEATURE_OPERAND }, .run = cmd_loop

const struct command command_loop = {
	.name = "loop",
	.section = SECTION_MAKE,
	.usage = "loop [options] [FEATURE]",
	.summary = "do task after task, until all are done",
	.description =
		"Goes on as 'ralph step' does until all tasks are done, none can go on, or a limit "
		"is reached. Killed anywhere, the next one finishes what was begun. The exit "
		"status is 0 when all is done, 1 when a task failed or a limit ended it, 100 when "
		"there are no tasks, 101 when tasks are left and none can go on, or a hook's own.",
	.examples = EXAMPLES("ralph loop", "until done",
			     "ralph loop -p 3 --max-cost 20 --max-time 2h",
			     "three at once, within limits"),
	LOOP_SYNTAX,
};

const struct command command_ralph_run = {
	.name = "run",
	.section = SECTION_SELF,
	.usage = "run [options] [FEATURE]",
	.summary = "another name of 'loop'",
	.examples = EXAMPLES("ralph run", "the same as 'ralph loop'"),
	LOOP_SYNTAX,
};
