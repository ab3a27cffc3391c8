/* SPDX-License-Identifier: MIT */
/* The completion script for fish; see completion.h. */
#include "cli/completion.h"

static const char fish_head[] =
	"# Completion of wrapix for fish, made by 'wrapix completion fish'.\n"
	"function __wrapix_at_command\n"
	"\ttest (count (commandline -opc)) -eq 1\n"
	"end\n"
	"\n"
	"# True in the options and operands of this subcommand, before any '--'.\n"
	"function __wrapix_in\n"
	"\tset -l words (commandline -opc)\n"
	"\ttest (count $words) -gt 1; and test $words[2] = $argv[1]; and not contains -- -- "
	"$words\n"
	"end\n"
	"\n"
	"# True after the '--' of this subcommand.\n"
	"function __wrapix_after\n"
	"\tset -l words (commandline -opc)\n"
	"\ttest (count $words) -gt 2; and test $words[2] = $argv[1]; and contains -- -- $words\n"
	"end\n"
	"\n"
	"# What follows '--' is completed as if it stood alone.\n"
	"function __wrapix_tail\n"
	"\tset -l words (commandline -opc)\n"
	"\tset -l at (contains -i -- -- $words)\n"
	"\tset -l line (string escape -- $words[(math $at + 1)..-1]) (commandline -ct)\n"
	"\tset line (string join -- ' ' $line)\n"
	"\tcomplete \"-C$line\"\n"
	"end\n"
	"\n"
	"complete -c wrapix -f\n";

/* Only where there is a program behind a command. */
static const char fish_inner[] =
	"\n# The program behind this command completes the line: it has a script of its own.\n"
	"function __wrapix_inner\n"
	"\tfunctions -q __wrapix-$argv[1]_in; or command wrapix $argv[1] completion fish "
	"2>/dev/null | source\n"
	"\tset -l words (commandline -opc)\n"
	"\tset -l line (string escape -- wrapix-$argv[1] $words[3..-1]) (commandline -ct)\n"
	"\tset line (string join -- ' ' $line)\n"
	"\tcomplete \"-C$line\"\n"
	"end\n";

/* What follows the option's name in a 'complete' line: -x takes no files, -r -F takes them. */
static const struct completion_actions fish_actions = {
	.before_words = " -x -a '",
	.after_words = "'",
	.of_kind = { [COMPLETE_NONE] = " -x",
		     [COMPLETE_FILE] = " -r -F",
		     [COMPLETE_DIR] = " -x -a '(__fish_complete_directories (commandline -ct))'",
		     [COMPLETE_PROGRAM] = " -r -F -a '(__fish_complete_command)'",
		     [COMPLETE_ENV] = " -x -a '(set -nx)'",
		     [COMPLETE_SESSION] = (" -x -a '(" COMPLETION_SESSIONS ")'") },
};

/* fish reads \' and \\ inside single quotes. */
static void add_fish_text(struct str *out, const char *text)
{
	str_add(out, " -d '");
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			str_add(out, "\\");
		str_addn(out, text, 1);
	}
	str_add(out, "'\n");
}

static void add_fish_options(struct str *out, const struct opt *table, const char *condition)
{
	for (const struct opt *o = opt_first(table); o; o = opt_next(o)) {
		str_addf(out, "complete -c %s -n '%s'", completion_name(), condition);
		if (o->letter)
			str_addf(out, " -s %c", o->letter);
		str_addf(out, " -l %s", o->name);
		if (o->arg)
			completion_add_action(out, &fish_actions, o->complete, opt_words(o));
		add_fish_text(out, o->help);
	}
}

static void add_fish_operand(struct str *out, const char *condition, enum opt_complete complete,
			     const char *const *words)
{
	if (complete == COMPLETE_NONE)
		return;
	str_addf(out, "complete -c %s -n '%s'", completion_name(), condition);
	completion_add_action(out, &fish_actions, complete, words);
	str_add(out, "\n");
}

/* After an action comes what it is about. */
static void add_fish_operands(struct str *out, const struct opt_syntax *syntax,
			      const char *condition)
{
	const char *const *words = completion_operand_words(syntax);
	_cleanup_str_ struct str said = { 0 }, before = { 0 }, after = { 0 };

	if (!completion_has_actions(syntax)) {
		if (syntax->max)
			add_fish_operand(out, condition, syntax->complete, words);
		return;
	}
	str_add(&said, "__fish_seen_subcommand_from");
	for (size_t i = 0; words[i]; i++)
		str_addf(&said, " %s", words[i]);
	str_addf(&before, "%s; and not %s", condition, said.s);
	add_fish_operand(out, before.s, syntax->complete, words);
	str_addf(&after, "%s; and %s", condition, said.s);
	add_fish_operand(out, after.s, syntax->rest, completion_rest_words(syntax));
}

static void add_fish_command(struct str *out, const struct command *command)
{
	const struct opt_syntax *syntax = &command->syntax;
	_cleanup_str_ struct str condition = { 0 };

	str_addf(&condition, "__%s_in %s", completion_name(), command->name);
	completion_add_frame(out, "\ncomplete -c wrapix -n __wrapix_at_command");
	str_addf(out, " -a %s", command->name);
	add_fish_text(out, command->summary);
	if (command->is_program) {
		str_addf(out, "complete -c %1$s -n '%2$s' -x -a '(__%1$s_inner %3$s)'\n",
			 completion_name(), condition.s, command->name);
		return;
	}
	add_fish_options(out, syntax->opts, condition.s);
	add_fish_operands(out, syntax, condition.s);
	if (syntax->command)
		str_addf(out, "complete -c %1$s -n '__%1$s_after %2$s' -x -a '(__%1$s_tail)'\n",
			 completion_name(), command->name);
}

void completion_add_fish(struct str *out)
{
	_cleanup_str_ struct str at = { 0 };

	completion_add_frame(out, fish_head);
	if (completion_has_programs())
		completion_add_frame(out, fish_inner);
	str_addf(&at, "__%s_at_command", completion_name());
	add_fish_options(out, main_opts, at.s);
	for (const struct command *const *c = commands; *c; c++)
		add_fish_command(out, *c);
	if (this_program.others[0].name)
		str_add(out, "\n# 'srt' is 'wrapix exec' under another name.\n"
			     "complete -c srt -w 'wrapix exec'\n");
}
