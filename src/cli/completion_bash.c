/* SPDX-License-Identifier: MIT */
/* The completion script for bash; see completion.h. */
#include "cli/completion.h"

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
	"# True when one of the words stands before the cursor.\n"
	"_wrapix_said()\n"
	"{\n"
	"\tlocal i\n"
	"\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	"\t\t[[ \" $1 \" == *\" ${COMP_WORDS[i]} \"* ]] && return 0\n"
	"\tdone\n"
	"\treturn 1\n"
	"}\n"
	"\n";

static const char bash_main[] =
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

/* Only where there is a program behind a command. */
static const char bash_inner[] =
	"# True when the program behind this command has completed the line: it has a script of "
	"its "
	"own.\n"
	"_wrapix_inner()\n"
	"{\n"
	"\tdeclare -F \"_wrapix-$1\" >/dev/null || eval \"$(command wrapix \"$1\" completion bash "
	"2>/dev/null)\"\n"
	"\tdeclare -F \"_wrapix-$1\" >/dev/null || return 1\n"
	"\tCOMP_WORDS=(\"wrapix-$1\" \"${COMP_WORDS[@]:2}\")\n"
	"\t((COMP_CWORD--))\n"
	"\t\"_wrapix-$1\"\n"
	"}\n"
	"\n";

/* The statement that completes an argument. */
static const struct completion_actions bash_actions = {
	.before_words = "_wrapix_words '",
	.after_words = "'",
	.of_kind = { [COMPLETE_NONE] = ":",
		     [COMPLETE_FILE] = "_wrapix_option default",
		     [COMPLETE_DIR] = "_wrapix_option dirnames",
		     [COMPLETE_PROGRAM] =
			     "COMPREPLY=($(compgen -c -- \"$cur\")); _wrapix_option default",
		     [COMPLETE_ENV] = "COMPREPLY=($(compgen -e -- \"$cur\"))",
		     [COMPLETE_SESSION] = ("_wrapix_words \"$(" COMPLETION_SESSIONS ")\"") },
};

/* After an action comes what it is about. */
static void add_bash_operands(struct str *out, const struct opt_syntax *syntax)
{
	const char *const *words = completion_operand_words(syntax);

	if (completion_has_actions(syntax)) {
		completion_add_frame(out, "if _wrapix_said '");
		for (size_t i = 0; words[i]; i++)
			str_addf(out, "%s%s", i ? " " : "", words[i]);
		str_add(out, "'; then\n\t\t\t\t");
		completion_add_action(out, &bash_actions, syntax->rest,
				      completion_rest_words(syntax));
		str_add(out, "\n\t\t\telse\n\t\t\t\t");
	}
	completion_add_action(out, &bash_actions, syntax->complete, words);
	if (completion_has_actions(syntax))
		str_add(out, "\n\t\t\tfi");
}

static void add_bash_command(struct str *out, const struct command *command)
{
	const struct opt_syntax *syntax = &command->syntax;

	str_addf(out, "\t%s)\n", command->name);
	if (syntax->command)
		completion_add_frame(out, "\t\t_wrapix_tail && return\n");
	if (command->is_program) {
		completion_add_frame(out, "\t\t_wrapix_inner ");
		str_addf(out, "%s && return\n", command->name);
	}
	str_add(out, "\t\tcase $prev in\n");
	for (const struct opt *o = opt_first(syntax->opts); o; o = opt_next(o)) {
		if (!o->arg)
			continue;
		str_add(out, "\t\t");
		if (o->letter)
			str_addf(out, "-%c | ", o->letter);
		str_addf(out, "--%s) ", o->name);
		completion_add_action(out, &bash_actions, o->complete, opt_words(o));
		str_add(out, "; return ;;\n");
	}
	completion_add_frame(out, "\t\tesac\n\t\tif [[ $cur == -* ]]; then\n\t\t\t_wrapix_words '");
	completion_add_options(out, syntax->opts);
	str_add(out, "'\n\t\telse\n\t\t\t");
	add_bash_operands(out, syntax);
	str_add(out, "\n\t\tfi\n\t\t;;\n");
}

void completion_add_bash(struct str *out)
{
	completion_add_frame(out, bash_head);
	if (completion_has_programs())
		completion_add_frame(out, bash_inner);
	completion_add_frame(out, bash_main);
	completion_add_frame(out, "\tif ((COMP_CWORD == 1)); then\n\t\t_wrapix_words '");
	completion_add_options(out, main_opts);
	completion_add_commands(out);
	str_add(out, "'\n\t\treturn\n\tfi\n\tcase ${COMP_WORDS[1]} in\n");
	for (const struct command *const *c = commands; *c; c++)
		add_bash_command(out, *c);
	completion_add_frame(out, "\tesac\n}\n\ncomplete -F _wrapix wrapix\n");
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
