/* SPDX-License-Identifier: MIT */
/*
 * 'wrapix completion': scripts for bash, zsh and fish, each of a file of its own, and the words that are in all of them.
 */
#include "cli/completion.h"

#include <string.h>

struct completion_args {
	bool sessions;
};

void completion_add_frame(struct str *out, const char *text)
{
	static const char name[] = "wrapix", asks[] = "command ";

	for (const char *at; (at = strstr(text, name)); text = at + strlen(name)) {
		bool is_asked = (size_t)(at - text) >= strlen(asks) &&
				!strncmp(at - strlen(asks), asks, strlen(asks));

		str_addn(out, text, (size_t)(at - text));
		str_add(out, is_asked ? this_program.name : completion_name());
	}
	str_add(out, text);
}

const char *completion_name(void)
{
	return this_program.file ?: program_label();
}

bool completion_has_programs(void)
{
	for (const struct command *const *c = commands; *c; c++)
		if ((*c)->is_program)
			return true;
	return false;
}

bool completion_has_actions(const struct opt_syntax *syntax)
{
	return syntax->complete == COMPLETE_WORDS && syntax->max > 1;
}

const char *const *completion_operand_words(const struct opt_syntax *syntax)
{
	return syntax->words ? syntax->words(syntax->operand) : NULL;
}

const char *const *completion_rest_words(const struct opt_syntax *syntax)
{
	return syntax->rest_words ? syntax->rest_words(syntax->operand) : NULL;
}

void completion_add_commands(struct str *out)
{
	for (size_t i = 0; commands[i]; i++)
		str_addf(out, "%s%s", i ? " " : "", commands[i]->name);
}

void completion_add_action(struct str *out, const struct completion_actions *actions,
			   enum opt_complete complete, const char *const *words)
{
	if (complete != COMPLETE_WORDS && complete != COMPLETE_COMMAND) {
		completion_add_frame(out, actions->of_kind[complete]);
		return;
	}
	completion_add_frame(out, actions->before_words);
	if (complete == COMPLETE_COMMAND)
		completion_add_commands(out);
	for (size_t i = 0; complete == COMPLETE_WORDS && words && words[i]; i++)
		str_addf(out, "%s%s", i ? " " : "", words[i]);
	str_add(out, actions->after_words);
}

void completion_add_options(struct str *out, const struct opt *table)
{
	for (const struct opt *o = opt_first(table); o; o = opt_next(o)) {
		if (o->letter)
			str_addf(out, "-%c ", o->letter);
		str_addf(out, "--%s ", o->name);
	}
}

static const struct {
	const char *name;
	void (*add)(struct str *out);
} shells[] = { { "bash", completion_add_bash },
	       { "zsh", completion_add_zsh },
	       { "fish", completion_add_fish } };

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
