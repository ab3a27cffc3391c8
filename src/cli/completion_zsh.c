/* SPDX-License-Identifier: MIT */
/* The completion script for zsh; see completion.h. */
#include "cli/completion.h"

#include <string.h>

static const char zsh_head[] = "# Completion of wrapix for zsh, made by 'wrapix completion zsh'.\n"
			       "_wrapix_sessions() { compadd -- ${(f)\"$(" COMPLETION_SESSIONS
			       ")\"} }\n"
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

/* Only where there is a program behind a command. */
static const char zsh_inner[] =
	"# The program behind this command completes the line: it has a script of its own.\n"
	"_wrapix_inner()\n"
	"{\n"
	"\t(($+functions[_wrapix-$1])) || eval \"$(command wrapix $1 completion zsh "
	"2>/dev/null)\"\n"
	"\t(($+functions[_wrapix-$1])) || return 1\n"
	"\t_wrapix-$1\n"
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

/* The actions of _arguments. */
static const struct completion_actions zsh_actions = {
	.before_words = "(",
	.after_words = ")",
	.of_kind = { [COMPLETE_NONE] = " ",
		     [COMPLETE_FILE] = "_files",
		     [COMPLETE_DIR] = "_files -/",
		     [COMPLETE_PROGRAM] = "_command_names -e",
		     [COMPLETE_ENV] = "_parameters -g \"*export*\"",
		     [COMPLETE_SESSION] = "_wrapix_sessions" },
};

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
		completion_add_action(&spec, &zsh_actions, opt->complete, opt_words(opt));
	}
	str_add(out, " \\\n\t\t\t");
	str_add_shell(out, spec.s);
}

static void add_zsh_operand(struct str *out, const char *which, const char *name,
			    enum opt_complete complete, const char *const *words)
{
	_cleanup_str_ struct str spec = { 0 };

	str_addf(&spec, "%s:%s:", which, name);
	completion_add_action(&spec, &zsh_actions, complete, words);
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
	if (syntax->max)
		add_zsh_operand(out, syntax->max > 1 && !completion_has_actions(syntax) ? "*" : "1",
				syntax->operand, syntax->complete,
				completion_operand_words(syntax));
	if (completion_has_actions(syntax))
		add_zsh_operand(out, "*", "WHAT", syntax->rest, completion_rest_words(syntax));
	str_add(out, "\n");
}

void completion_add_zsh(struct str *out)
{
	str_addf(out, "#compdef %s%s\n", completion_name(),
		 this_program.others[0].name ? " srt" : "");
	completion_add_frame(out, zsh_head);
	if (completion_has_programs())
		completion_add_frame(out, zsh_inner);
	completion_add_frame(out, "_wrapix()\n{\n");
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
		completion_add_frame(out, (*c)->syntax.command ? "_wrapix_tail || " : "");
		completion_add_frame(out, (*c)->is_program ? "_wrapix_inner $words[1] || " : "");
		add_zsh_arguments(out, &(*c)->syntax);
		str_add(out, "\t\t;;\n");
	}
	str_add(out, "\tesac\n}\n\n");
	completion_add_frame(out, zsh_foot);
	str_add(out, this_program.others[0].name ? " srt\nfi\n" : "\nfi\n");
}
