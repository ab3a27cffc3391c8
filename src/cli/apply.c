/* SPDX-License-Identifier: MIT */
/* wrapix apply and wrapix undo: a copy-on-write session's changes into the project, and back. */
#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "cli/cli.h"
#include "cli/cow.h"
#include "cow/apply.h"
#include "cow/branch.h"
#include "cow/paths.h"
#include "cow/show.h"

struct apply_args {
	bool ours, theirs, both, yes, json;
	const char *branch;
};
struct undo_args {
	bool json;
};

static const struct {
	const char *word, *text; /* for programs, for people; text NULL: not worth a line */
} outcomes[] = {
	[OUTCOME_APPLIED] = { "applied", NULL },
	[OUTCOME_MERGED] = { "merged", "merged with your changes" },
	[OUTCOME_BESIDE] = { "beside", "the session's version is in" },
	[OUTCOME_KEPT] = { "kept", "yours was kept" },
	[OUTCOME_CONFLICT] = { "conflict", "conflict" },
	[OUTCOME_HELD] = { "held", "not taken over; it would be executed" },
	[OUTCOME_REFUSED] = { "refused", "never taken over" },
	[OUTCOME_FAILED] = { "failed", "failed" },
	[OUTCOME_REMARK] = { "remark", "taken over" },
};

void cli_print_result(const struct result *result)
{
	_cleanup_str_ struct str name = { 0 }, text = { 0 };

	if (!outcomes[result->outcome].text)
		return;
	add_quoted_name(&name, "", result->path);
	if (result->outcome == OUTCOME_HELD) {
		str_add(&text, sensitive_when(result->text));
	} else if (result->outcome == OUTCOME_BESIDE) {
		add_quoted_name(&text, "", result->text);
	} else if (result->text) {
		str_add(&text, result->text);
	}
	printf("%s: %s%s%s\n", name.s, outcomes[result->outcome].text,
	       !text.len                                                              ? ""
	       : result->outcome == OUTCOME_HELD || result->outcome == OUTCOME_BESIDE ? " "
	       : result->outcome == OUTCOME_REMARK                                    ? ", "
										      : ": ",
	       text.s ? text.s : "");
}

void cli_print_report(const struct apply_report *report)
{
	const size_t *count = report->count;
	size_t left = count[OUTCOME_CONFLICT] + count[OUTCOME_HELD] + count[OUTCOME_REFUSED] +
		      count[OUTCOME_FAILED];

	for (size_t i = 0; i < report->n; i++)
		cli_print_result(&report->v[i]);
	printf("%zu %s", count[OUTCOME_APPLIED],
	       count[OUTCOME_APPLIED] == 1 ? "change was taken over" : "changes were taken over");
	if (count[OUTCOME_MERGED])
		printf(", %zu merged", count[OUTCOME_MERGED]);
	if (count[OUTCOME_BESIDE])
		printf(", %zu put beside yours", count[OUTCOME_BESIDE]);
	if (count[OUTCOME_KEPT])
		printf(", %zu of yours kept", count[OUTCOME_KEPT]);
	if (left)
		printf(", %zu not", left);
	printf("\n");
	if (count[OUTCOME_CONFLICT])
		printf("hint: --theirs takes the session's version, --ours keeps yours, --both "
		       "puts them side by side\n");
	if (count[OUTCOME_HELD])
		printf("hint: --yes takes the files over that would be executed\n");
}

static void print_json(const struct cow *cow, const struct apply_report *report)
{
	_cleanup_str_ struct str out = { 0 };

	str_add(&out, "{\"session\": ");
	json_add_string(&out, cow->id);
	str_add(&out, ", \"results\": [");
	for (size_t i = 0; i < report->n; i++) {
		str_addf(&out, "%s\n  {\"outcome\": \"%s\", \"path\": ", i ? "," : "",
			 outcomes[report->v[i].outcome].word);
		json_add_string(&out, report->v[i].path);
		if (report->v[i].text) {
			str_add(&out, ", \"text\": ");
			json_add_string(&out, report->v[i].text);
		}
		str_add(&out, "}");
	}
	printf("%s%s]}\n", out.s, report->n ? "\n" : "");
}

int cli_report_status(const struct apply_report *report)
{
	return report->count[OUTCOME_CONFLICT] || report->count[OUTCOME_HELD] ||
	       report->count[OUTCOME_REFUSED] || report->count[OUTCOME_FAILED];
}

/* Shows those that something executes later, and asks. */
static bool agree_to_sensitive(const struct cow_target *target, const struct changes *changes)
{
	bool asked = false;

	for (size_t i = 0; i < changes->n; i++) {
		const struct change *change = &changes->v[i];
		_cleanup_str_ struct str name = { 0 };

		if (!change->sensitive || !node_exists(&change->new) ||
		    change_is_implied(changes, i) ||
		    !change_is_chosen(change, target->paths, target->n_paths))
			continue;
		if (!isatty(STDIN_FILENO))
			return false;
		if (!asked)
			printf("These are executed or obeyed later without being started:\n");
		asked = true;
		add_quoted_name(&name, "", change->path);
		printf("  %c %s: %s\n", change->status, name.s, sensitive_when(change->sensitive));
	}
	return !asked || cli_ask("Take them over, too?");
}

/* What stays in the session is named: each repository, not each of its files. How many those are. */
static size_t print_inner(const struct branch_report *report)
{
	size_t n = 0;

	for (size_t i = 0; i < report->n_inner; i++) {
		const struct branch_inner *inner = &report->inner[i];
		_cleanup_str_ struct str name = { 0 };

		add_quoted_name(&name, "", inner->path);
		printf("%s: stays in the session, with %zu %s: it is a repository of its own\n",
		       name.s, inner->changes, inner->changes == 1 ? "change" : "changes");
		n += inner->changes;
	}
	return n;
}

static void print_branch(const struct branch_report *report, const char *branch)
{
	_cleanup_str_ struct str name = { 0 };
	size_t stay = print_inner(report);

	str_add_escaped(&name, branch);
	if (report->taken)
		printf("The branch '%s' has %zu changed %s", name.s, report->taken,
		       report->taken == 1 ? "file" : "files");
	else
		printf("There is nothing to put on a branch");
	if (report->ignored)
		printf(", without %zu that git ignores", report->ignored);
	if (report->refused)
		printf(", without %zu that are never taken over", report->refused);
	if (stay)
		printf(", without %zu in repositories of their own", stay);
	puts(report->taken ? ". Your files are as they were." : ". None was made.");
	if (stay)
		printf("hint: 'wrapix apply PATH' takes over the files in such a repository\n");
}

static int make_branch(struct cow_target *target, const struct changes *changes,
		       const struct apply_args *args, struct apply_report *report, struct err *err)
{
	struct branch_report made;
	int r = branch_make(&target->cow, changes, target->paths, target->n_paths, args->branch,
			    &made, err);

	if (r == 0 && !args->json)
		print_branch(&made, args->branch);
	for (size_t i = 0; r == 0 && i < made.n_inner; i++)
		apply_report_add(report, OUTCOME_REFUSED, made.inner[i].path,
				 "it is a repository of its own");
	branch_report_release(&made);
	return r;
}

/* The session is ours alone, and nothing is half done. */
static int begin(struct cow_target *target, char *const *words, size_t n, bool recover,
		 struct apply_report *report, struct err *err)
{
	struct apply_options none = { 0 };
	int r = cli_cow_open(target, words, n, err);

	if (r == 0)
		r = cow_lock(&target->cow, err);
	if (r == 0 && recover)
		r = apply_recover(&target->cow, &none, report, err);
	if (r == 1)
		fprintf(stderr, "wrapix: finished what was interrupted\n");
	return MIN(r, 0);
}

static int apply(const struct apply_args *args, struct cow_target *target,
		 struct apply_report *report, struct err *err)
{
	struct apply_options options = {
		.resolution = args->ours     ? CONFLICTS_OURS
			      : args->theirs ? CONFLICTS_THEIRS
			      : args->both   ? CONFLICTS_BOTH
					     : CONFLICTS_MERGE,
		.paths = target->paths,
		.n_paths = target->n_paths,
	};
	struct changes changes;
	int r = cli_cow_changes(target, &changes, err);

	if (r < 0)
		return r;
	if (args->branch) {
		r = make_branch(target, &changes, args, report, err);
	} else {
		options.sensitive = args->yes || agree_to_sensitive(target, &changes);
		r = apply_changes(&target->cow, &changes, &options, report, err);
		if (r == 0 && changes.git && !args->json)
			printf("What the session did in .git stays in the session.\n");
	}
	changes_release(&changes);
	return r;
}

static int cmd_apply(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct cow_target target = COW_TARGET_NONE;
	struct apply_report report = { 0 };
	struct apply_args args = { 0 };
	struct err err;
	int r, status = cli_parse(argc, argv, &args, &rest);

	if (status != CLI_GO_ON)
		return status;
	if (args.ours + args.theirs + args.both > 1)
		return err_usage(&err, "--ours, --theirs and --both exclude each other"),
		       cli_fail(&err);
	r = begin(&target, rest.operands, rest.n_operands, true, &report, &err);
	if (r == 0)
		r = apply(&args, &target, &report, &err);
	if (r == 0 && args.json)
		print_json(&target.cow, &report);
	else if (r == 0 && !args.branch)
		cli_print_report(&report);
	status = r < 0 ? cli_fail(&err) : cli_report_status(&report);
	apply_report_release(&report);
	cli_cow_close(&target);
	return status;
}

static int cmd_undo(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct cow_target target = COW_TARGET_NONE;
	struct apply_report report = { 0 };
	struct apply_options options = { 0 };
	struct undo_args args = { 0 };
	struct err err;
	int r, status = cli_parse(argc, argv, &args, &rest);

	if (status != CLI_GO_ON)
		return status;
	r = begin(&target, rest.operands, rest.n_operands, false, &report, &err);
	if (r == 0 && target.n_paths)
		r = err_usage(&err, "there is no copy-on-write session '%s'", rest.operands[0]);
	if (r == 0)
		r = apply_undo(&target.cow, &options, &report, &err);
	if (r == 0 && args.json)
		print_json(&target.cow, &report);
	for (size_t i = 0; r == 0 && !args.json && i < report.n; i++)
		cli_print_result(&report.v[i]);
	if (r == 0 && !args.json)
		printf("The last apply of %s was taken back%s.\n", target.cow.id,
		       report.n ? ", but for what is listed" : "");
	status = r < 0 ? cli_fail(&err) : cli_report_status(&report);
	apply_report_release(&report);
	cli_cow_close(&target);
	return status;
}

static const struct opt apply_opts[] = {
	{ 0, "ours", FLAG(apply_args, ours), .help = "in a conflict, keep what you have" },
	{ 0, "theirs", FLAG(apply_args, theirs), .help = "in a conflict, take the session's" },
	{ 0, "both", FLAG(apply_args, both),
	  .help = "in a conflict, put the session's beside yours, as NAME.wrapix-SESSION" },
	{ 0, "as-branch", "BRANCH", .kind = OPT_STRING,
	  .offset = offsetof(struct apply_args, branch),
	  .help = "make a commit on a new branch of it, and leave your files alone" },
	{ 'y', "yes", FLAG(apply_args, yes),
	  .help = "take over files that something executes later without asking" },
	{ 0, "json", FLAG(apply_args, json), .help = "print what became of each change as JSON" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_apply = {
	.name = "apply",
	.section = SECTION_SESSIONS,
	.usage = "apply [SESSION] [PATH...] [options]",
	.summary = "take the changes of a copy-on-write session over into the project",
	.description = "Puts what a session changed into the project: all of it, or what is at the "
		       "PATHs. Where you changed the same file meanwhile both are merged, if that "
		       "goes without a conflict and git knows what the file was; else yours stays, "
		       "and the conflict is listed. Files that something executes later (hooks, "
		       "editors' and agents' settings, build scripts) are asked about first. "
		       "'wrapix undo' takes it all back.\n"
		       "The exit status is 1 when something was not taken over.",
	.examples = EXAMPLES("wrapix apply", "all that the latest session here changed",
			     "wrapix apply site src/main.c", "one file of the session 'site'",
			     "wrapix apply --as-branch try-1", "as a branch, to merge by hand"),
	.syntax = { apply_opts, .max = -1U, .operand = "SESSION", .complete = COMPLETE_SESSION },
	.run = cmd_apply,
};

static const struct opt undo_opts[] = {
	{ 0, "json", FLAG(undo_args, json), .help = "print what could not be taken back as JSON" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_undo = {
	.name = "undo",
	.section = SECTION_SESSIONS,
	.usage = "undo [SESSION] [options]",
	.summary = "take the last apply of a session back",
	.description = "Puts back what 'wrapix apply' replaced or removed, and removes what it "
		       "added: content, modes and times. What you have changed since then stays as "
		       "it is, and is listed. Again, it takes back the apply before that.",
	.examples = EXAMPLES("wrapix undo", "the latest session here"),
	.syntax = { undo_opts, .max = 1, .operand = "SESSION", .complete = COMPLETE_SESSION },
	.run = cmd_undo,
};
