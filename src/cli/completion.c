/* SPDX-License-Identifier: MIT */
/*
 * 'wrapix completion': scripts for bash, zsh and fish, made from the tables of commands and options.
 * Only the frame of each script is fixed text; every command, option and word comes from a row.
 */
#include "cli/cli.h"

#include <string.h>

struct completion_args {
	bool sessions;
};

#define SESSIONS "command wrapix completion --sessions 2>/dev/null"

/* Text of the frame, which is written for wrapix: with this program's name in its place. */
static void add_frame(struct str *out, const char *text)
{
	static const char name[] = "wrapix";

	for (const char *at; (at = strstr(text, name)); text = at + strlen(name)) {
		str_addn(out, text, (size_t)(at - text));
		str_add(out, program_label());
	}
	str_add(out, text);
}

/* Words with a blank between them. */
static void add_words(struct str *out, const char *const *words)
{
	for (size_t i = 0; words && words[i]; i++)
		str_addf(out, "%s%s", i ? " " : "", words[i]);
}

static const char *const *operand_words(const struct opt_syntax *syntax)
{
	return syntax->words ? syntax->words(syntax->operand) : NULL;
}

static void add_command_names(struct str *out)
{
	for (size_t i = 0; commands[i]; i++)
		str_addf(out, "%s%s", i ? " " : "", commands[i]->name);
}

/* Every way to write the options of a table: "-v --verbose --only". */
static void add_option_names(struct str *out, const struct opt *table)
{
	for (const struct opt *o = opt_first(table); o; o = opt_next(o)) {
		if (o->letter)
			str_addf(out, "-%c ", o->letter);
		str_addf(out, "--%s ", o->name);
	}
}

/* --- bash --- */

static const char bash_head[] =
	"# Completion of wrapix for bash, made by 'wrapix completion bash'.\n"
	"_wrapix_words() { COMPREPLY=($(compgen -W \"$1\" -- \"$cur\")); }\n"
	"_wrapix_option() { compopt -o \"$1\" 2>/dev/null; }\n"
	"\n"
	"# True when the cursor stands after '--': what is there is completed as a command of its "
	"own.\n"
	"_wrapix_tail()\n"
	"{\n"
	"\tlocal i\n"
	"\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	"\t\t[[ ${COMP_WORDS[i]} == -- ]] && break\n"
	"\tdone\n"
	"\t((i < COMP_CWORD)) || return 1\n"
	"\tif declare -F _command_offset >/dev/null; then\n"
	"\t\t_command_offset $((i + 1))\n"
	"\telif ((i + 1 == COMP_CWORD)); then\n"
	"\t\tCOMPREPLY=($(compgen -c -- \"$cur\"))\n"
	"\telse\n"
	"\t\t_wrapix_option default\n"
	"\tfi\n"
	"\treturn 0\n"
	"}\n"
	"\n"
	"_wrapix()\n"
	"{\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	"\tCOMPREPLY=()\n"
	"\t# bash takes '--name=X' apart at the '='.\n"
	"\tif [[ $cur == = ]]; then\n"
	"\t\tcur=\n"
	"\telif [[ $prev == = ]] && ((COMP_CWORD > 2)); then\n"
	"\t\tprev=${COMP_WORDS[COMP_CWORD-2]}\n"
	"\tfi\n";

/* The statement that completes an argument. */
static void add_bash_action(struct str *out, enum opt_complete complete, const char *const *words)
{
	switch (complete) {
	case COMPLETE_NONE:
		str_add(out, ":");
		break;
	case COMPLETE_WORDS:
		add_frame(out, "_wrapix_words '");
		add_words(out, words);
		str_add(out, "'");
		break;
	case COMPLETE_FILE:
		add_frame(out, "_wrapix_option default");
		break;
	case COMPLETE_DIR:
		add_frame(out, "_wrapix_option dirnames");
		break;
	case COMPLETE_PROGRAM:
		add_frame(out, "COMPREPLY=($(compgen -c -- \"$cur\")); _wrapix_option default");
		break;
	case COMPLETE_ENV:
		str_add(out, "COMPREPLY=($(compgen -e -- \"$cur\"))");
		break;
	case COMPLETE_SESSION:
		add_frame(out, "_wrapix_words \"$(" SESSIONS ")\"");
		break;
	case COMPLETE_COMMAND:
		add_frame(out, "_wrapix_words '");
		add_command_names(out);
		str_add(out, "'");
		break;
	}
}

static void add_bash_command(struct str *out, const struct command *command)
{
	const struct opt_syntax *syntax = &command->syntax;

	str_addf(out, "\t%s)\n", command->name);
	if (syntax->command)
		add_frame(out, "\t\t_wrapix_tail && return\n");
	str_add(out, "\t\tcase $prev in\n");
	for (const struct opt *o = opt_first(syntax->opts); o; o = opt_next(o)) {
		if (!o->arg)
			continue;
		str_add(out, "\t\t");
		if (o->letter)
			str_addf(out, "-%c | ", o->letter);
		str_addf(out, "--%s) ", o->name);
		add_bash_action(out, o->complete, opt_words(o));
		str_add(out, "; return ;;\n");
	}
	add_frame(out, "\t\tesac\n\t\tif [[ $cur == -* ]]; then\n\t\t\t_wrapix_words '");
	add_option_names(out, syntax->opts);
	str_add(out, "'\n\t\telse\n\t\t\t");
	add_bash_action(out, syntax->complete, operand_words(syntax));
	str_add(out, "\n\t\tfi\n\t\t;;\n");
}

static void add_bash(struct str *out)
{
	add_frame(out, bash_head);
	add_frame(out, "\tif ((COMP_CWORD == 1)); then\n\t\t_wrapix_words '");
	add_option_names(out, main_opts);
	add_command_names(out);
	str_add(out, "'\n\t\treturn\n\tfi\n\tcase ${COMP_WORDS[1]} in\n");
	for (const struct command *const *c = commands; *c; c++)
		add_bash_command(out, *c);
	add_frame(out, "\tesac\n}\n\ncomplete -F _wrapix wrapix\n");
	if (this_program.others[0].name)
		str_add(out, "# 'srt' is 'wrapix exec' under another name.\n"
			     "_wrapix_srt()\n"
			     "{\n"
			     "\tCOMP_WORDS=(wrapix exec \"${COMP_WORDS[@]:1}\")\n"
			     "\t((COMP_CWORD++))\n"
			     "\t_wrapix\n"
			     "}\n"
			     "complete -F _wrapix_srt srt\n");
}

/* --- zsh --- */

static const char zsh_head[] = "# Completion of wrapix for zsh, made by 'wrapix completion zsh'.\n"
			       "_wrapix_sessions() { compadd -- ${(f)\"$(" SESSIONS ")\"} }\n"
			       "\n"
			       "# The command after '--' is completed as if it stood alone.\n"
			       "_wrapix_tail()\n"
			       "{\n"
			       "\tlocal at=${words[(i)--]}\n"
			       "\t((at < CURRENT)) || return 1\n"
			       "\tshift $at words\n"
			       "\t((CURRENT -= at))\n"
			       "\t_normal\n"
			       "\treturn 0\n"
			       "}\n"
			       "\n";

/* Works both as an autoloaded file of $fpath and when a shell evaluates it. */
static const char zsh_foot[] = "if [[ $funcstack[1] == _wrapix ]]; then\n"
			       "\t_wrapix \"$@\"\n"
			       "else\n"
			       "\tcompdef _wrapix wrapix";

/* Adds text with what _arguments and _describe give a meaning to behind a backslash. */
static void add_zsh_text(struct str *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("[]:\\", *text))
			str_add(out, "\\");
		str_addn(out, text, 1);
	}
}

/* The action of an _arguments spec. */
static void add_zsh_action(struct str *out, enum opt_complete complete, const char *const *words)
{
	static const char *const actions[] = {
		[COMPLETE_NONE] = " ",
		[COMPLETE_FILE] = "_files",
		[COMPLETE_DIR] = "_files -/",
		[COMPLETE_PROGRAM] = "_command_names -e",
		[COMPLETE_ENV] = "_parameters -g \"*export*\"",
		[COMPLETE_SESSION] = "_wrapix_sessions",
	};

	if (complete != COMPLETE_WORDS && complete != COMPLETE_COMMAND) {
		add_frame(out, actions[complete]);
		return;
	}
	str_add(out, "(");
	if (complete == COMPLETE_COMMAND)
		add_command_names(out);
	else
		add_words(out, words);
	str_add(out, ")");
}

/* One way to write an option: "(-v --verbose)--verbose[help]:ARG:action". */
static void add_zsh_spec(struct str *out, const struct opt *opt, bool by_letter)
{
	_cleanup_str_ struct str spec = { 0 };

	if (opt->repeat)
		str_add(&spec, "*");
	else if (opt->letter)
		str_addf(&spec, "(-%c --%s)", opt->letter, opt->name);
	if (by_letter)
		str_addf(&spec, "-%c%s[", opt->letter, opt->arg ? "+" : "");
	else
		str_addf(&spec, "--%s%s[", opt->name, opt->arg ? "=" : "");
	add_zsh_text(&spec, opt->help);
	str_add(&spec, "]");
	if (opt->arg) {
		str_add(&spec, ":");
		add_zsh_text(&spec, opt->arg);
		str_add(&spec, ":");
		add_zsh_action(&spec, opt->complete, opt_words(opt));
	}
	str_add(out, " \\\n\t\t\t");
	str_add_shell(out, spec.s);
}

static void add_zsh_arguments(struct str *out, const struct opt_syntax *syntax)
{
	str_add(out, "_arguments -s -S");
	for (const struct opt *o = opt_first(syntax->opts); o; o = opt_next(o)) {
		if (o->letter)
			add_zsh_spec(out, o, true);
		add_zsh_spec(out, o, false);
	}
	if (syntax->max) {
		_cleanup_str_ struct str spec = { 0 };

		str_addf(&spec, "%s:%s:", syntax->max > 1 ? "*" : "1", syntax->operand);
		add_zsh_action(&spec, syntax->complete, operand_words(syntax));
		str_add(out, " \\\n\t\t\t");
		str_add_shell(out, spec.s);
	}
	str_add(out, "\n");
}

static void add_zsh(struct str *out)
{
	str_addf(out, "#compdef %s%s\n", program_label(),
		 this_program.others[0].name ? " srt" : "");
	add_frame(out, zsh_head);
	add_frame(out, "_wrapix()\n{\n");
	if (this_program.others[0].name)
		str_add(out, "\t# 'srt' is 'wrapix exec' under another name.\n"
			     "\tif [[ $service == srt ]]; then\n"
			     "\t\twords=(wrapix exec \"${(@)words[2,-1]}\")\n"
			     "\t\t((CURRENT++))\n"
			     "\tfi\n");
	str_add(out, "\tlocal -a names=(");
	for (const struct command *const *c = commands; *c; c++) {
		_cleanup_str_ struct str row = { 0 };

		str_addf(&row, "%s:", (*c)->name);
		add_zsh_text(&row, (*c)->summary);
		str_add(out, "\n\t\t");
		str_add_shell(out, row.s);
	}
	str_add(out, "\n\t)\n\tif ((CURRENT == 2)); then\n\t\t_describe -t commands command names\n"
		     "\t\t");
	add_zsh_arguments(out, &(struct opt_syntax){ .opts = main_opts });
	str_add(out, "\t\treturn\n\tfi\n\tshift words\n\t((CURRENT--))\n\tcase $words[1] in\n");
	for (const struct command *const *c = commands; *c; c++) {
		str_addf(out, "\t%s)\n\t\t", (*c)->name);
		add_frame(out, (*c)->syntax.command ? "_wrapix_tail || " : "");
		add_zsh_arguments(out, &(*c)->syntax);
		str_add(out, "\t\t;;\n");
	}
	str_add(out, "\tesac\n}\n\n");
	add_frame(out, zsh_foot);
	str_add(out, this_program.others[0].name ? " srt\nfi\n" : "\nfi\n");
}

/* --- fish --- */

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

/* What follows the option's name in a 'complete' line: -x takes no files, -r -F takes them. */
static void add_fish_action(struct str *out, enum opt_complete complete, const char *const *words)
{
	static const char *const actions[] = {
		[COMPLETE_NONE] = " -x",
		[COMPLETE_FILE] = " -r -F",
		[COMPLETE_DIR] = " -x -a '(__fish_complete_directories (commandline -ct))'",
		[COMPLETE_PROGRAM] = " -r -F -a '(__fish_complete_command)'",
		[COMPLETE_ENV] = " -x -a '(set -nx)'",
		[COMPLETE_SESSION] = (" -x -a '(" SESSIONS ")'"),
	};

	if (complete != COMPLETE_WORDS && complete != COMPLETE_COMMAND) {
		add_frame(out, actions[complete]);
		return;
	}
	str_add(out, " -x -a '");
	if (complete == COMPLETE_COMMAND)
		add_command_names(out);
	else
		add_words(out, words);
	str_add(out, "'");
}

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
		str_addf(out, "complete -c %s -n '%s'", program_label(), condition);
		if (o->letter)
			str_addf(out, " -s %c", o->letter);
		str_addf(out, " -l %s", o->name);
		if (o->arg)
			add_fish_action(out, o->complete, opt_words(o));
		add_fish_text(out, o->help);
	}
}

static void add_fish_command(struct str *out, const struct command *command)
{
	const struct opt_syntax *syntax = &command->syntax;
	_cleanup_str_ struct str condition = { 0 };

	str_addf(&condition, "__%s_in %s", program_label(), command->name);
	add_frame(out, "\ncomplete -c wrapix -n __wrapix_at_command");
	str_addf(out, " -a %s", command->name);
	add_fish_text(out, command->summary);
	add_fish_options(out, syntax->opts, condition.s);
	if (syntax->max && syntax->complete != COMPLETE_NONE) {
		str_addf(out, "complete -c %s -n '%s'", program_label(), condition.s);
		add_fish_action(out, syntax->complete, operand_words(syntax));
		str_add(out, "\n");
	}
	if (syntax->command)
		str_addf(out, "complete -c %1$s -n '__%1$s_after %2$s' -x -a '(__%1$s_tail)'\n",
			 program_label(), command->name);
}

static void add_fish(struct str *out)
{
	_cleanup_str_ struct str at = { 0 };

	add_frame(out, fish_head);
	str_addf(&at, "__%s_at_command", program_label());
	add_fish_options(out, main_opts, at.s);
	for (const struct command *const *c = commands; *c; c++)
		add_fish_command(out, *c);
	if (this_program.others[0].name)
		str_add(out, "\n# 'srt' is 'wrapix exec' under another name.\n"
			     "complete -c srt -w 'wrapix exec'\n");
}

/* --- the command --- */

static const struct {
	const char *name;
	void (*add)(struct str *out);
} shells[] = { { "bash", add_bash }, { "zsh", add_zsh }, { "fish", add_fish } };

/* The shells there is a completion for. */
static const char *const *completion_shells(_unused_ const char *name)
{
	static const char *words[ARRAY_LEN(shells) + 1];

	for (size_t i = 0; i < ARRAY_LEN(shells); i++)
		words[i] = shells[i].name;
	return words;
}

static int print_script(const char *shell)
{
	_cleanup_str_ struct str out = { 0 };
	struct err err = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(shells); i++) {
		if (strcmp(shells[i].name, shell) != 0)
			continue;
		shells[i].add(&out);
		fputs(out.s, stdout);
		return 0;
	}
	err_usage(&err, "no completion for the shell '%s'; there is one for bash, zsh and fish",
		  shell);
	return cli_fail(&err);
}

static int cmd_completion(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct completion_args args = { 0 };
	struct err err = { 0 };
	int status = cli_parse(argc, argv, &args, &rest);

	if (status != CLI_GO_ON)
		return status;
	if (args.sessions)
		return cli_print_sessions();
	if (rest.n_operands)
		return print_script(rest.operands[0]);
	err_usage(&err, "SHELL is missing");
	err_hint(&err, "one of: %s completion bash, zsh, fish", program_label());
	return cli_fail(&err);
}

static const struct opt opts[] = {
	{ 0, "sessions", FLAG(completion_args, sessions),
	  .help = "print the names of the running sessions, which the scripts ask for" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_completion = {
	.name = "completion",
	.section = SECTION_HOST,
	.usage = "completion bash|zsh|fish",
	.summary = "print a completion script for a shell",
	.description = "The script completes commands, options, their arguments and the names "
		       "of sessions.",
	.examples = EXAMPLES("eval \"$(wrapix completion bash)\"", "in this shell",
			     "wrapix completion fish >~/.config/fish/completions/wrapix.fish",
			     "in every fish from now on"),
	.syntax = { opts, .max = 1, .operand = "SHELL", .complete = COMPLETE_WORDS,
		    .words = completion_shells },
	.run = cmd_completion,
};
