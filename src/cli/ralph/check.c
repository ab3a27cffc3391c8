/* SPDX-License-Identifier: MIT */
/* ralph check: are the templates valid, and does somebody else agree that the work is done? */
#include <errno.h>
#include <string.h>

#include "cli/ralph/ralph.h"

struct check_args {
	bool templates, verbose;
	const char *agent;
};

static int check_templates(struct work *work)
{
	int bad = 0;

	for (size_t i = 0; template_info(i); i++) {
		const struct template_info *info = template_info(i);
		struct err err = { 0 };

		if (!info->vars || template_check(&work->templates, info->name, &err) == 0)
			continue;
		cli_print_err(&err);
		bad++;
	}
	if (!bad)
		printf("The templates are valid.\n");
	return bad;
}

static int render(struct work *work, const struct feature *feature, const struct items *items,
		  struct str *ret, struct err *err)
{
	struct arena *a = &work->arena;
	_cleanup_str_ struct str list = { 0 };

	str_add(&list, "");
	for (size_t i = 0; i < items->n; i++)
		if (!items->v[i].epic && items->v[i].status != ITEM_DROPPED)
			str_addf(&list, "- %s (%s): %s\n", items->v[i].id,
				 item_status_name(items->v[i].status), items->v[i].title);
	return template_fill(
		ret, &work->templates, "check",
		(const struct template_var[]){ { "FEATURE", feature->name },
					       { "SPEC_PATH", work_spec_inside(a, feature) },
					       { "PINNED", work_pinned(work, a) },
					       { "ITEMS", list.s } },
		4, err);
}

/* A reviewer's session: what it finds is proposed as tasks. */
static int review(struct work *work, const struct feature *feature, const struct items *items,
		  struct err *err)
{
	_cleanup_str_ struct str prompt = { 0 };
	_cleanup_free_ char *text = NULL;
	struct turn turn = {
		.work = work, .phase = PHASE_CHECK, .who = "check", .feature = feature
	};
	size_t len;
	int r = work_read_spec(work, feature, &text, &len, err); /* there is one to compare with */

	if (r == 0)
		r = render(work, feature, items, &prompt, err);
	if (r < 0)
		return r;
	r = turn_run(&turn, prompt.s, err);
	if (r == 0 && turn.verdict != VERDICT_COMPLETE)
		r = err_set(err, EIO, "the reviewer did not finish (%s): %.500s",
			    verdict_name(turn.verdict), turn.reason.s ? turn.reason.s : "");
	if (r == 0)
		r = feature_count_review(&work->db, feature->name, feature->reviews + 1, err);
	if (r == 0 && turn.added)
		printf("The reviewer proposes %u tasks.\n", turn.added);
	else if (r == 0)
		printf("The reviewer found nothing to do.\n");
	r = r < 0 ? r : (int)turn.added;
	turn_release(&turn);
	return r;
}

static int cmd_check(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct check_args args = { 0 };
	struct feature feature;
	struct work work = { 0 };
	struct items items = { 0 };
	struct err err = { 0 };
	int r = 0, status = cli_parse(argc, argv, &args, &rest);

	if (status == CLI_GO_ON)
		status = ralph_open(&work, args.agent, &rest, args.templates ? NULL : &feature,
				    args.verbose);
	if (status != CLI_GO_ON)
		return status;
	status = check_templates(&work) ? 1 : 0;
	if (status)
		ralph_next("ralph tune TEMPLATE (mend it), or ralph tune TEMPLATE --reset");
	else if (args.templates)
		say_next_of(&work, NULL);
	if (!status && !args.templates) {
		r = items_load(&work.db, feature.name, &items, &err);
		if (r == 0)
			r = review(&work, &feature, &items, &err);
		status = r > 0;
		if (r >= 0 && work_export(&work, &err) < 0)
			r = -err.code;
		if (r > 0)
			ralph_next("ralph ready (look at them), then ralph loop");
		else if (r == 0)
			ralph_next("ralph report");
		items_release(&items);
	}
	work_close(&work);
	return r < 0 ? ralph_fail(&err) : status;
}

static const struct opt opts[] = {
	{ 't', "templates", FLAG(check_args, templates), .help = "look at the templates alone" },
	{ 0, "agent", "NAME|PATH", .kind = OPT_STRING, .offset = offsetof(struct check_args, agent),
	  .complete = COMPLETE_PROGRAM, .help = "the agent that reviews" },
	{ 'v', "verbose", FLAG(check_args, verbose), .help = "show all that the agent does" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_ralph_check = {
	.name = "check",
	.section = SECTION_SETTLE,
	.usage = "check [options] [FEATURE]",
	.summary = "have an independent agent review the finished work",
	.description = "Checks the templates, then has a fresh agent compare the spec with what "
		       "the project does. What it finds becomes proposed tasks; nothing else that "
		       "it writes is kept. The exit status is 1 when it found something.",
	.examples = EXAMPLES("ralph check", "templates and work", "ralph check --templates",
			     "templates alone"),
	.syntax = { opts, FEATURE_OPERAND },
	.run = cmd_check,
};
