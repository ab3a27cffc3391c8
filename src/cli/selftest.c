/* SPDX-License-Identifier: MIT */
/* wrapix selftest: tries to escape from a sandbox made here, and says what holds. */
#include <string.h>
#include <sys/utsname.h>

#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "cli/cli.h"
#include "selftest/selftest.h"

struct selftest_args {
	const char *engine;
	bool json, verbose;
};

static const struct {
	const char *word, *color;
} verdicts[] = {
	[NOT_TRIED] = { "not tried", "" },
	[CONTAINED] = { "contained", "\033[32m" },
	[WEAKER] = { "weaker", "\033[33m" },
	[ESCAPED] = { "escaped", "\033[31m" },
};

struct tally {
	size_t n[ESCAPED + 1];
	size_t without_control;
	enum containment worst;
};

static struct tally count(const struct selftest *test, const char *group)
{
	struct tally t = { .worst = NOT_TRIED };

	for (size_t i = 0; i < test->n_cases; i++) {
		const struct trial_case *c = &test->cases[i];

		if (group && strcmp(c->group, group))
			continue;
		t.n[c->verdict]++;
		t.worst = MAX(t.worst, c->verdict);
		t.without_control += c->verdict == CONTAINED && !c->outside;
	}
	return t;
}

/* --- text --- */

static bool color;

static void print_state(enum containment verdict, const char *what)
{
	printf("%s%-10s%s %-17s", color ? verdicts[verdict].color : "", verdicts[verdict].word,
	       color && verdicts[verdict].color[0] ? "\033[0m" : "", what);
}

/* What is weaker or open in a group: the attempts by their reason, each reason once. */
static void print_reasons(const struct selftest *test, const char *group, enum containment verdict)
{
	for (size_t i = 0; i < test->n_cases; i++) {
		const struct trial_case *c = &test->cases[i];
		_cleanup_str_ struct str line = { 0 };
		bool first = true;

		if (strcmp(c->group, group) || c->verdict != verdict)
			continue;
		for (size_t k = 0; first && k < i; k++)
			first = strcmp(test->cases[k].group, group) ||
				test->cases[k].verdict != verdict ||
				strcmp(test->cases[k].why, c->why);
		if (!first)
			continue;
		str_addf(&line, "%28s%s:", "", c->why);
		for (size_t k = i; k < test->n_cases; k++)
			if (!strcmp(test->cases[k].group, group) &&
			    test->cases[k].verdict == verdict &&
			    !strcmp(test->cases[k].why, c->why))
				str_addf(&line, " %s", test->cases[k].name);
		printf("%s\n", line.s);
		if (c->fix)
			printf("%28sfix: %s\n", "", c->fix);
	}
}

static void print_group(const struct selftest *test, const char *group, bool verbose)
{
	struct tally t = count(test, group);

	print_state(t.worst, group);
	printf("%zu of %zu stopped", t.n[CONTAINED], t.n[CONTAINED] + t.n[WEAKER] + t.n[ESCAPED]);
	if (t.without_control)
		printf(", %zu of them without a control (it needs root)", t.without_control);
	if (t.n[NOT_TRIED])
		printf("; %zu not tried", t.n[NOT_TRIED]);
	puts("");
	print_reasons(test, group, ESCAPED);
	print_reasons(test, group, WEAKER);
	if (verbose)
		print_reasons(test, group, NOT_TRIED);
}

static void print_text(const struct selftest *test, bool verbose)
{
	struct tally all = count(test, NULL);
	const char *group;

	color = cli_color(stdout);
	for (size_t i = 0; (group = selftest_group(test, i)); i++)
		print_group(test, group, verbose);
	for (size_t i = 0; i < test->weaker.len; i++) {
		_cleanup_str_ struct str line = { 0 };

		str_add_escaped(&line, test->weaker.v[i]);
		print_state(WEAKER, "by the plan");
		printf("%s\n", line.s);
	}
	if (test->weaker.len)
		printf("%28sfix: 'wrapix doctor' says how to mend what this machine lacks\n", "");
	printf("\n%zu attempts were stopped, %zu are let through as this configuration is known to "
	       "do, %zu escaped, %zu were not tried%s\n",
	       all.n[CONTAINED], all.n[WEAKER], all.n[ESCAPED], all.n[NOT_TRIED],
	       all.n[NOT_TRIED] && !verbose ? " (--verbose says why)" : "");
}

/* --- JSON --- */

static void add_case(struct str *out, const struct trial_case *c)
{
	str_add(out, "{");
	json_add_member(out, "name", c->name);
	json_add_member(out, "group", c->group);
	json_add_member(out, "verdict", verdicts[c->verdict].word);
	json_add_member(out, "control", c->control);
	json_add_member(out, "outside", c->outside);
	json_add_member(out, "inside", c->inside);
	json_add_member(out, "why", c->why);
	json_add_member(out, "fix", c->fix);
	str_add(out, "}");
}

static void print_json(const struct selftest *test)
{
	_cleanup_str_ struct str out = { 0 };
	struct utsname name;
	const char *group;

	uname(&name);
	str_add(&out, "{");
	json_add_member(&out, "engine", test->engine);
	json_add_member(&out, "network", test->network);
	json_add_member(&out, "system", name.sysname);
	json_add_member(&out, "release", name.release);
	json_add_member(&out, "verdict", verdicts[count(test, NULL).worst].word);
	json_add_key(&out, "weaker");
	json_add_strings(&out, &test->weaker);
	json_add_key(&out, "groups");
	for (size_t i = 0; (group = selftest_group(test, i)); i++) {
		struct tally t = count(test, group);

		str_add(&out, i ? ",\n  {" : "[\n  {");
		json_add_member(&out, "name", group);
		json_add_member(&out, "verdict", verdicts[t.worst].word);
		json_add_count(&out, "contained", t.n[CONTAINED]);
		json_add_count(&out, "withoutControl", t.without_control);
		json_add_count(&out, "weaker", t.n[WEAKER]);
		json_add_count(&out, "escaped", t.n[ESCAPED]);
		json_add_count(&out, "notTried", t.n[NOT_TRIED]);
		str_add(&out, "}");
	}
	str_add(&out, "]");
	json_add_key(&out, "cases");
	for (size_t i = 0; i < test->n_cases; i++) {
		str_add(&out, i ? ",\n  " : "[\n  ");
		add_case(&out, &test->cases[i]);
	}
	str_add(&out, "]}\n");
	fputs(out.s, stdout);
}

static void say(const char *what)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "wrapix: trying to escape: %s\n", what);
}

static int cmd_selftest(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct selftest_args args = { 0 };
	struct selftest test = { .say = say };
	struct arena arena = { 0 };
	struct err err;
	int status = cli_parse(argc, argv, &args, &rest);

	if (status != CLI_GO_ON)
		return status;
	test.engine = args.engine ? args.engine : "native";
	test.options = rest.command;
	test.state_dir = path_join(&arena, cli_state_home(&arena), "wrapix");
	if (!strcmp(test.engine, "exec") && rest.command) {
		err_usage(&err, "options of 'wrapix run' do not go with --engine exec");
		status = cli_fail(&err);
	} else if (selftest_run(&test, &err) < 0) {
		status = cli_fail(&err);
	} else {
		if (args.json)
			print_json(&test);
		else
			print_text(&test, args.verbose);
		status = count(&test, NULL).worst == ESCAPED ? 1 : 0;
	}
	selftest_release(&test);
	arena_release(&arena);
	return status;
}

static const char *const *engines(_unused_ const char *name)
{
	static const char *const words[] = { "native", "podman", "exec", NULL };

	return words;
}

static const struct opt opts[] = {
	{ 0, "engine", "native|podman|exec", .kind = OPT_STRING,
	  .offset = offsetof(struct selftest_args, engine), .words = engines,
	  .complete = COMPLETE_WORDS,
	  .help = "what makes the sandbox; exec: 'wrapix exec', by settings of its own "
		  "(default: native)" },
	{ 0, "json", FLAG(selftest_args, json), .help = "print what was found as JSON" },
	{ 'v', "verbose", FLAG(selftest_args, verbose), .help = "say what was not tried, and why" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_selftest = {
	.name = "selftest",
	.section = SECTION_HOST,
	.usage = "selftest [options] [-- RUN-OPTION...]",
	.summary = "try to escape from a sandbox made here, and say what holds",
	.description = "Starts sandboxes in a directory of its own, as 'wrapix run' would do here "
		       "with your configuration and RUN-OPTION, and tries from inside what must be "
		       "impossible. Each attempt is made outside first, where it must work. "
		       "Prints what is contained, what is weaker and why, and what you can do.\n"
		       "The exit status is 0 when nothing escaped, 1 when something did, 125 when "
		       "the test could not be made.",
	.examples = EXAMPLES("wrapix selftest", "the sandbox that 'wrapix run' makes here",
			     "wrapix selftest -- --network host --allow-nested",
			     "with these options of 'wrapix run'"),
	.syntax = { opts, .command = true },
	.run = cmd_selftest,
};
