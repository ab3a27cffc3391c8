/* SPDX-License-Identifier: MIT */
/* wrapix check: what would become of a command under Claude Code's settings. */
#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "cli/settings.h"
#include "spec/claude_check.h"

enum { EXIT_ASK = 1, EXIT_DENY = 3 };

struct check_args {
	bool fix, json, outside, hook;
	const char *command, *settings;
};

static void print_text(const struct claude_settings *s, const struct claude_verdict *v)
{
	_cleanup_str_ struct str out = { 0 };

	str_addf(&out, "%s: %s", claude_answer_name(v->answer), v->why);
	if (v->answer == CLAUDE_EXCLUDED)
		str_addf(&out, "; outside, %s",
			 v->allowed ? "allow rules cover it" : "it is asked for");
	if (v->part && *v->part) {
		str_add(&out, "\n  part     ");
		str_add_escaped(&out, v->part);
	}
	if (v->rule) {
		str_add(&out, "\n  rule     ");
		str_add_escaped(&out, v->rule->string ? v->rule->string : v->rule->json);
		str_addf(&out, " (%s)\n  written  ", v->rule->key->name);
		cli_add_origin(&out, s, v->rule);
	}
	str_addf(&out, "\n  mode     %s; the command runs %s\n", claude_mode_name(claude_mode(s)),
		 v->answer == CLAUDE_DENY ? "nowhere"
		 : v->sandboxed           ? "in the sandbox"
					  : "outside of any sandbox");
	fputs(out.s, stdout);
}

static void print_json(const struct claude_settings *s, const char *command,
		       const struct claude_verdict *v)
{
	_cleanup_str_ struct str out = { 0 };

	str_addf(&out, "{\"answer\":\"%s\",\"sandboxed\":%s,\"mode\":\"%s\",\"command\":",
		 claude_answer_name(v->answer),
		 v->sandboxed && v->answer != CLAUDE_DENY ? "true" : "false",
		 claude_mode_name(claude_mode(s)));
	json_add_string(&out, command);
	str_add(&out, ",\"why\":");
	json_add_string(&out, v->why);
	if (v->answer == CLAUDE_EXCLUDED)
		str_addf(&out, ",\"outside\":\"%s\"", v->allowed ? "allow" : "ask");
	if (v->part) {
		str_add(&out, ",\"part\":");
		json_add_string(&out, v->part);
	}
	if (v->rule) {
		str_add(&out, ",\"rule\":");
		cli_add_value_json(&out, v->rule);
	}
	json_add_key(&out, "parts");
	json_add_strings(&out, &v->parts);
	printf("%s}\n", out.s);
}

/* What to write where; the local settings are the user's own in this project. */
static void print_fix(const struct claude_verdict *v, const char *command, const char *local)
{
	_cleanup_str_ struct str out = { 0 };

	if (v->answer == CLAUDE_ALLOW || v->answer == CLAUDE_EXCLUDED)
		return;
	str_add(&out, "  to allow ");
	if (v->rule && v->rule->string && v->by_rule) {
		str_add(&out, "it: take ");
		json_add_string(&out, v->rule->string);
		str_addf(&out, " out of %s\n", v->rule->key->name);
	} else {
		_cleanup_str_ struct str rule = { 0 };

		str_addf(&rule, "Bash(%s)", v->part && *v->part ? v->part : command);
		str_add(&out, "it: add ");
		json_add_string(&out, rule.s);
		str_add(&out, " to permissions.allow in ");
		str_add_escaped(&out, local);
		str_add(&out, "\n");
	}
	fputs(out.s, stdout);
}

static int answer(const struct check_args *args, const char *command)
{
	_cleanup_claude_ struct claude_settings s = { .n = 0 };
	_cleanup_(arena_release) struct arena arena = { NULL };
	struct claude_files files = { .n = 0 };
	struct claude_question question = { .command = command, .outside = args->outside };
	struct claude_verdict verdict;
	struct err err = { 0 };
	int r = cli_claude_load(args->settings, NULL, &s, &files, &err);

	if (r < 0) {
		claude_files_release(&files);
		return cli_fail(&err);
	}
	claude_check(&arena, &s, &question, &verdict);
	if (args->json)
		print_json(&s, command, &verdict);
	else
		print_text(&s, &verdict);
	if (!args->json && args->fix)
		print_fix(&verdict, command, files.local);
	claude_files_release(&files);
	if (ferror(stdout) || fflush(stdout))
		return EXIT_WRAPIX;
	return verdict.answer == CLAUDE_DENY  ? EXIT_DENY
	       : verdict.answer == CLAUDE_ASK ? EXIT_ASK
					      : 0;
}

int cli_check(const char *command, bool json)
{
	return answer(&(struct check_args){ .json = json, .fix = true }, command);
}

void cli_add_line(struct str *out, char *const *words)
{
	bool line = words && words[0] && !words[1] && strpbrk(words[0], " \t\n") &&
		    access(words[0], F_OK) < 0;

	if (line)
		str_add(out, words[0]);
	else
		str_add_shell_words(out, words);
}

static int cmd_check(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	_cleanup_str_ struct str words = { 0 };
	struct check_args args = { 0 };
	struct err err = { 0 };
	int status = cli_parse(argc, argv, &args, &rest);

	if (status != CLI_GO_ON)
		return status;
	cli_add_line(&words, rest.command);
	if (args.hook && !args.command && !words.s)
		return cli_hook();
	if (args.hook || !args.command == !words.s) {
		err_usage(&err, "say the command once: after '--', or as a string after -c");
		return cli_fail(&err);
	}
	return answer(&args, args.command ? args.command : words.s);
}

#define STRING(field) .kind = OPT_STRING, .offset = offsetof(struct check_args, field)

static const struct opt opts[] = {
	{ 'c', "command", "STRING", STRING(command), .help = "the command as a shell takes it" },
	{ 0, "outside", FLAG(check_args, outside),
	  .help = "as if the command asked to run outside the sandbox" },
	{ 0, "hook", FLAG(check_args, hook),
	  .help = "be a hook of Claude Code: its JSON on standard input, the answer on output" },
	{ 0, "json", FLAG(check_args, json), .help = "print the answer as JSON" },
	{ 0, "settings", "FILE|JSON", STRING(settings), .complete = COMPLETE_FILE,
	  .help = "more settings, as Claude Code's option of this name takes them" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_check = {
	.name = "check",
	.section = SECTION_CLAUDE,
	.usage = "check [options] -c STRING | -- CMD...",
	.summary = "say what would become of a command: allow, ask, deny, excluded",
	.description =
		"Holds a command against Claude Code's settings and runs nothing. A compound "
		"command is taken apart, and every part counts. The answer comes with the rule, "
		"and the file and line it is written at.\n"
		"The exit status is 0 for allow and excluded, 1 for ask, 3 for deny.",
	.examples = EXAMPLES("wrapix check -c 'git log | head'", "may this run?",
			     "wrapix check --json -- rm -rf build", "the answer for a program"),
	.syntax = { opts, .command = true },
	.run = cmd_check,
};
