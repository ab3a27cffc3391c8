/* SPDX-License-Identifier: MIT */
/* ralph plan: an interview with an agent that ends in a spec. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "cli/ralph/ralph.h"
#include "cow/apply.h"
#include "ralph/criteria.h"
#include "ralph/land.h"

struct plan_args {
	const char *agent;
};

static int render(struct work *work, const struct feature *feature, struct str *ret,
		  struct err *err)
{
	struct arena *a = &work->arena;
	_cleanup_free_ char *text = NULL;
	struct err none;
	size_t len;
	bool has = work_read_spec(work, feature, &text, &len, &none) == 0;
	const struct template_var vars[] = {
		{ "FEATURE", feature->name },
		{ "SPEC_PATH", work_spec_inside(a, feature) },
		{ "PINNED", work_pinned(work, a) },
		{ "EXISTING",
		  has ? "The spec is there already. Read it first; this interview changes it. "
			"Keep what still holds, and say what changes."
		      : "" },
	};

	return template_fill(ret, &work->templates, "plan", vars, ARRAY_LEN(vars), err);
}

/* A file, and nothing that a directory of its name could bring. */
static bool is_spec(const struct change *change)
{
	return change && S_ISREG(change->new.mode);
}

/* The agent's takes the place of the one that is there, which stays where a step's are kept. */
static int take_spec(struct work *work, const struct attempt *attempt, struct cow *cow,
		     struct changes *changes, const struct harvest *spec, struct err *err)
{
	struct apply_report report = { 0 };
	struct apply_options options = { .resolution = CONFLICTS_THEIRS,
					 .sensitive = true,
					 .paths = spec->paths,
					 .n_paths = spec->n };
	int r;

	land_choose(changes, spec);
	r = land_save(work, attempt, cow, changes, err);
	if (r == 0)
		r = apply_changes(cow, changes, &options, &report, err);
	if (r == 0)
		land_tell(work, attempt);
	apply_report_release(&report);
	return r;
}

/* Of all that the session wrote, the spec alone is taken over. */
static int keep_spec(struct work *work, const struct feature *feature,
		     const struct attempt *attempt, struct err *err)
{
	_cleanup_cow_ struct cow cow = COW_NONE;
	const struct harvest spec = { .paths = (char *[]){ feature->spec }, .n = 1 };
	struct changes changes;
	size_t others = 0;
	int r = work_open_session(work, attempt->session, &cow, err);

	if (r <= 0)
		return r;
	r = changes_find(&changes, &cow, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < changes.n; i++)
		others += !change_is_implied(&changes, i) &&
			  (strcmp(changes.v[i].path, feature->spec) != 0 ||
			   !is_spec(&changes.v[i]));
	if (!feature->hidden && is_spec(changes_at(&changes, feature->spec)))
		r = take_spec(work, attempt, &cow, &changes, &spec, err);
	if (r == 0 && others)
		printf("%zu other changed %s not kept: a plan is a spec.\n", others,
		       others == 1 ? "file was" : "files were");
	changes_release(&changes);
	return r < 0 ? r : cow_remove(&cow, err);
}

static int interview(struct work *work, const struct feature *feature, struct err *err)
{
	struct arena *a = &work->arena;
	_cleanup_str_ struct str prompt = { 0 };
	struct attempt attempt = { .feature = feature->name, .phase = (char *)"plan" };
	struct process_spec spec = { .dir = work->site.top,
				     .agent = work->agent.name,
				     .terminal = true,
				     .in = -1,
				     .err = -1 };
	int status, r = render(work, feature, &prompt, err);

	if (r == 0)
		r = attempt_begin(&work->db, &attempt, err);
	if (r < 0)
		return r;
	spec.name = attempt.session = work_session_name(work, a, attempt.id);
	spec.agent_args = turn_ask_args(work, a, PHASE_PLAN, prompt.s);
	turn_add_mounts(work, a, feature, NULL, true, &spec);
	status = process_run(&spec, NULL, err);
	attempt.ended = db_now();
	attempt.verdict = status == 0 ? VERDICT_COMPLETE : VERDICT_FAILED;
	r = status < 0 ? status : attempt_put(&work->db, &attempt, err);
	if (r == 0)
		r = keep_spec(work, feature, &attempt, err);
	if (r == 0 && status == 125)
		r = err_set(err, EIO, "the sandbox did not start");
	return r;
}

/* The spec as it is now; its title becomes the feature's. */
static int look(struct work *work, const struct feature *feature, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	struct criteria criteria;
	size_t len, trials = 0;
	int r = work_read_spec(work, feature, &text, &len, err);

	if (r < 0) {
		err_set(err, ENOENT, "the session ended without a spec: '%s' is not there",
			feature->spec);
		return err_hint(err, "'ralph plan' goes on with the interview");
	}
	criteria_parse(&criteria, text, len);
	for (size_t i = 0; i < criteria.n; i++)
		trials += criteria.v[i].n_trials > 0;
	printf("The spec is %s: %zu success criteria, %zu of them with a trial.\n",
	       work_spec_path(work, &work->arena, feature), criteria.n, trials);
	r = feature_touch(&work->db, feature->name, criteria.title, err);
	criteria_release(&criteria);
	if (r == 0)
		r = work_export(work, err);
	if (r == 0)
		ralph_next("ralph ready");
	return r;
}

static int cmd_plan(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct plan_args args = { 0 };
	struct feature feature;
	struct work work = { 0 };
	struct err err = { 0 };
	int r, status = cli_parse(argc, argv, &args, &rest);

	if (status == CLI_GO_ON)
		status = ralph_open(&work, args.agent, &rest, &feature, false);
	if (status != CLI_GO_ON)
		return status;
	r = interview(&work, &feature, &err);
	if (r == 0)
		r = look(&work, &feature, &err);
	work_close(&work);
	return r < 0 ? ralph_fail(&err) : 0;
}

static const struct opt opts[] = {
	{ 0, "agent", "NAME|PATH", .kind = OPT_STRING, .offset = offsetof(struct plan_args, agent),
	  .complete = COMPLETE_PROGRAM, .help = "the agent that asks" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_ralph_plan = {
	.name = "plan",
	.section = SECTION_MAKE,
	.usage = "plan [options] [FEATURE]",
	.summary = "an interview with an agent, which writes the spec",
	.description = "Opens a session of the agent that asks you one question after the other "
		       "and writes the spec. Of what it writes only the spec is kept. Again, it "
		       "changes the spec.",
	.examples = EXAMPLES("ralph plan", "the interview"),
	.syntax = { opts, FEATURE_OPERAND },
	.run = cmd_plan,
};
