/* SPDX-License-Identifier: MIT */
/* Help and version: text made from the tables. */
#include "cli/cli.h"

#include <string.h>
#include <sys/ioctl.h>

#include "base/str.h"

enum { NARROWEST = 40, DEFAULT_WIDTH = 80, WIDEST = 100 };

/* Long lines are hard to read, so a wide terminal does not get all it could have. */
static size_t help_width(void)
{
	struct winsize size = { 0 };

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_col)
		return DEFAULT_WIDTH;
	return MIN(MAX((size_t)size.ws_col, (size_t)NARROWEST), (size_t)WIDEST);
}

/* Each paragraph after an empty line. */
static void add_paragraphs(struct str *out, const char *text, size_t width)
{
	while (text && *text) {
		size_t len = strcspn(text, "\n");
		_cleanup_str_ struct str paragraph = { 0 };

		str_addn(&paragraph, text, len);
		str_add(out, "\n");
		opt_add_wrapped(out, paragraph.s, 0, 0, width);
		text += len + (text[len] == '\n');
	}
}

static void add_examples(struct str *out, const char *const *examples)
{
	if (!examples)
		return;
	str_add(out, "\nexamples:\n");
	for (; examples[0]; examples += 2)
		str_addf(out, "  %s\n      %s\n", examples[0], examples[1]);
}

static void add_command_help(struct str *out, const struct command *command, size_t width)
{
	str_addf(out, "usage: %s %s\n", this_program.name, command->usage);
	add_paragraphs(out, command->description ? command->description : command->summary, width);
	str_add(out, "\noptions:\n");
	opt_add_help(out, command->syntax.opts, width);
	add_examples(out, command->examples);
}

static void add_main_help(struct str *out, size_t width)
{
	enum { COLUMN = 14 };

	str_addf(out, "usage: %s COMMAND [options]\n", this_program.name);
	add_paragraphs(out, this_program.about, width);
	for (size_t i = 0; i < SECTION_COUNT; i++) {
		if (command_sections[i])
			str_addf(out, "\n%s:\n", command_sections[i]);
		for (const struct command *const *c = commands; *c; c++) {
			if ((*c)->section != i)
				continue;
			str_addf(out, "  %-*s", COLUMN - 2, (*c)->name);
			opt_add_wrapped(out, (*c)->summary, COLUMN, COLUMN, width);
		}
	}
	str_add(out, "\noptions:\n");
	opt_add_help(out, main_opts, width);
	str_addf(out, "\n'%s help COMMAND' explains a command; %s(1) is the manual.\n",
		 this_program.name, this_program.file ?: program_label());
	add_examples(out, this_program.examples);
}

void cli_print_help(const struct command *command)
{
	_cleanup_str_ struct str out = { 0 };

	if (command)
		add_command_help(&out, command, help_width());
	else
		add_main_help(&out, help_width());
	fputs(out.s, stdout);
}

static int cmd_help(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	const struct command *command = NULL;
	struct err err = { 0 };
	int status = cli_parse(argc, argv, NULL, &rest);

	if (status != CLI_GO_ON)
		return status;
	if (rest.n_operands) {
		command = command_find(rest.operands[0]);
		if (!command && command_unknown(rest.operands[0], &err) < 0)
			return cli_fail(&err);
	}
	if (command && command->is_program)
		return command->run(2, (char *[]){ rest.operands[0], (char *)"--help", NULL });
	cli_print_help(command);
	return 0;
}

static int cmd_version(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct main_args args = { 0 };
	int status = cli_parse(argc, argv, &args, &rest);

	if (status != CLI_GO_ON)
		return status;
	printf("%s " WRAPIX_VERSION "\n", program_label());
	if (args.build_info)
		cli_print_build_info();
	return 0;
}

static const struct opt version_opts[] = {
	{ 0, "build-info", FLAG(main_args, build_info), .help = "say how it was built as well" },
	HELP,
	{ .kind = OPT_END },
};

static const struct opt opts[] = {
	HELP,
	{ .kind = OPT_END },
};

const struct command command_help = {
	.name = "help",
	.section = SECTION_HOST,
	.usage = "help [COMMAND]",
	.summary = "explain the program or one command",
	.examples = EXAMPLES("wrapix help run", "all about 'run'"),
	.syntax = { opts, .max = 1, .operand = "COMMAND", .complete = COMPLETE_COMMAND },
	.run = cmd_help,
};

const struct command command_version = {
	.name = "version",
	.section = SECTION_HOST,
	.usage = "version [options]",
	.summary = "print the version",
	.examples = EXAMPLES("wrapix version", "which wrapix this is",
			     "wrapix --version --build-info", "and how it was built, for a report"),
	.syntax = { version_opts },
	.run = cmd_version,
};
