/* SPDX-License-Identifier: MIT */
/* ralph spec: do the success criteria hold? */
#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "cli/ralph/ralph.h"
#include "ralph/drive.h"
#include "ralph/trial.h"

struct spec_args {
	bool list, verify, judge, all, host, json;
	const char *agent;
};

struct tally {
	size_t count[TRIAL_SKIP + 1], bare, criteria;
	struct str json;
};

static const char *const words[] = {
	[TRIAL_PASS] = "PASS", [TRIAL_FAIL] = "FAIL", [TRIAL_SKIP] = "SKIP"
};

static bool is_wanted(const struct spec_args *args, const struct trial *trial)
{
	bool judge = trial->kind == TRIAL_JUDGE;

	return (!args->verify && !args->judge) || (judge ? args->judge : args->verify);
}

static void show(struct tally *tally, const struct feature *feature,
		 const struct criterion *criterion, const struct trial *trial, const char *result,
		 const char *why, bool json)
{
	static const char *const kinds[] = { "verify", "verify:wrapix", "judge" };
	_cleanup_str_ struct str line = { 0 };

	if (json) {
		str_add(&tally->json, tally->json.len ? ",\n {" : "\n {");
		json_add_member(&tally->json, "feature", feature->name);
		json_add_member(&tally->json, "criterion", criterion->text);
		json_add_member(&tally->json, "trial", trial ? trial->path : NULL);
		json_add_member(&tally->json, "result", result);
		json_add_member(&tally->json, "why", *why ? why : NULL);
		str_add(&tally->json, "}");
		return;
	}
	str_addf(&line, "  [%s] ", result);
	str_add_escaped(&line, criterion->text);
	if (trial) {
		str_addf(&line, "  (%s ", kinds[trial->kind]);
		str_add_escaped(&line, trial->path);
		str_add(&line, ")");
	}
	printf("%s\n", line.s);
	while (*why) {
		size_t n = strcspn(why, "\n");
		_cleanup_str_ struct str detail = { 0 };

		str_add(&detail, "         ");
		str_add_visible(&detail, why, n);
		printf("%s\n", detail.s);
		why += n + (why[n] == '\n');
	}
	fflush(stdout);
}

static int try(struct work *work, const struct feature *feature, const struct spec_args *args,
	       const struct criterion *criterion, struct tally *tally, struct err *err)
{
	int r = 0;

	if (!criterion->n_trials) {
		tally->bare++;
		show(tally, feature, criterion, NULL, "----", "", args->json);
	}
	for (size_t i = 0; r == 0 && i < criterion->n_trials; i++) {
		_cleanup_str_ struct str why = { 0 };
		const struct trial *trial = &criterion->trials[i];
		enum trial_result result = TRIAL_SKIP;

		if (args->list) {
			show(tally, feature, criterion, trial, "----", "", args->json);
			continue;
		}
		if (!is_wanted(args, trial))
			str_add(&why, "not asked for");
		else
			r = trial_run(work, feature, criterion, trial, &result, &why, err);
		if (r < 0)
			break;
		tally->count[result]++;
		show(tally, feature, criterion, trial, words[result], why.s, args->json);
	}
	return r;
}

static int try_spec(struct work *work, const struct feature *feature, const struct spec_args *args,
		    struct tally *tally, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	struct criteria criteria;
	size_t len;
	int r = work_read_spec(work, feature, &text, &len, err);

	if (r < 0)
		return r;
	criteria_parse(&criteria, text, len);
	if (!args->json) {
		print_title(feature->name, criteria.title);
		printf("\n");
	}
	if (!criteria.n && !args->json)
		printf("  no criteria: they are lines '- [ ] TEXT' under '## Success Criteria'\n");
	tally->criteria += criteria.n;
	for (size_t i = 0; r == 0 && i < criteria.n; i++)
		r = try(work, feature, args, &criteria.v[i], tally, err);
	criteria_release(&criteria);
	return r;
}

static int cmd_spec(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct spec_args args = { 0 };
	struct feature one, *list = &one;
	struct tally tally = { 0 };
	struct work work = { 0 };
	struct err err = { 0 };
	size_t n = 1;
	int r = 0, status = cli_parse(argc, argv, &args, &rest);

	if (status == CLI_GO_ON)
		status = ralph_open(&work, args.agent, &rest, args.all ? NULL : &one, false);
	if (status != CLI_GO_ON)
		return status;
	if (args.all)
		r = feature_list(&work.db, &work.arena, &list, &n, &err);
	if (r == 0 && args.host)
		r = work_use_host(&work, &err);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = try_spec(&work, &list[i], &args, &tally, &err);
	if (r == 0 && args.json)
		printf("[%s]\n", tally.json.s ? tally.json.s : "");
	else if (r == 0 && !args.list)
		printf("%zu passed, %zu failed, %zu skipped, %zu without a trial\n",
		       tally.count[TRIAL_PASS], tally.count[TRIAL_FAIL], tally.count[TRIAL_SKIP],
		       tally.bare);
	if (r == 0 && !args.json && !tally.count[TRIAL_FAIL])
		say_next_of(&work, args.all ? NULL : one.name);
	else if (r == 0 && !args.json)
		ralph_next(
			"ralph check (its findings become tasks), or ralph item add --title '...'");
	str_release(&tally.json);
	work_close(&work);
	if (r < 0)
		return ralph_fail(&err);
	return tally.criteria ? tally.count[TRIAL_FAIL] > 0 : DRIVE_NOTHING;
}

static const struct opt opts[] = {
	{ 'l', "list", FLAG(spec_args, list), .help = "list the criteria, and try nothing" },
	{ 'v', "verify", FLAG(spec_args, verify), .help = "try what programs decide" },
	{ 'j', "judge", FLAG(spec_args, judge), .help = "try what an agent decides" },
	{ 'a', "all", FLAG(spec_args, all), .help = "the specs of all features" },
	{ 0, "host", FLAG(spec_args, host),
	  .help = "run [verify] on the host, when 'wrapix trust' has accepted wrapix.json" },
	{ 0, "agent", "NAME|PATH", .kind = OPT_STRING, .offset = offsetof(struct spec_args, agent),
	  .complete = COMPLETE_PROGRAM, .help = "the agent that judges" },
	{ 0, "json", FLAG(spec_args, json), .help = "for programs" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_spec = {
	.name = "spec",
	.section = SECTION_SETTLE,
	.usage = "spec [options] [FEATURE]",
	.summary = "try the success criteria of the spec",
	.description = "Criteria are the lines '- [ ] TEXT' of the section '## Success Criteria'. "
		       "Under one, [verify](PATH#FUNCTION) names a program that decides, "
		       "[verify:wrapix](PATH#FUNCTION) one that is always run in a sandbox, "
		       "[judge](PATH) a text by which an agent decides. Status 0 passes, 77 and 78 "
		       "skip. All of them run in a sandbox whose changes are thrown away. The exit "
		       "status is 1 when one fails, 100 when there is none.",
	.examples = EXAMPLES("ralph spec", "all of them", "ralph spec -v", "without the judge"),
	.syntax = { opts, FEATURE_OPERAND },
	.run = cmd_spec,
};
