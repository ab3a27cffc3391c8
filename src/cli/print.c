/* SPDX-License-Identifier: MIT */
/*
 * What every subcommand says the same way: errors, hints, warnings. Their text may hold words from
 * the command line, from a project's file or from inside a sandbox, so it is hostile.
 */
#include "cli/cli.h"

#include <stdarg.h>
#include <string.h>

const char *program_label(void)
{
	return this_program.label ? this_program.label : "wrapix";
}

bool cli_color(FILE *file)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fileno(file)) && !(no_color && *no_color) && term && *term &&
	       strcmp(term, "dumb") != 0;
}

/*
 * Adds one line with everything a terminal would obey as \xNN. A backslash stays single: the text
 * is for a person and need not be read back, and what was escaped before is not escaped twice.
 */
static void add_line(struct str *out, const char *line, size_t len)
{
	_cleanup_str_ struct str raw = { 0 }, escaped = { 0 };

	str_addn(&raw, line, len);
	str_add_escaped(&escaped, raw.s);
	for (const char *p = escaped.s ? escaped.s : ""; *p; p++) {
		str_addn(out, p, 1);
		if (p[0] == '\\' && p[1] == '\\')
			p++;
	}
}

/*
 * "label: text". Further lines of the text are indented, so that a newline in a hostile name
 * cannot make a line that looks like one of ours.
 */
static void print_labelled(const char *label, const char *color, const char *text)
{
	_cleanup_str_ struct str out = { 0 };

	if (cli_color(stderr))
		str_addf(&out, "\x1b[%sm%s:\x1b[0m ", color, label);
	else
		str_addf(&out, "%s: ", label);
	for (;;) {
		size_t len = strcspn(text, "\n");

		add_line(&out, text, len);
		str_add(&out, "\n");
		if (!text[len] || !text[len + 1])
			break;
		str_add(&out, "  ");
		text += len + 1;
	}
	fflush(stdout); /* what was said before comes before */
	fputs(out.s, stderr);
}

void cli_print_err(const struct err *err)
{
	print_labelled(program_label(), "1;31", err->msg);
	if (err->hint[0])
		print_labelled("hint", "36", err->hint);
}

int cli_fail(const struct err *err)
{
	cli_print_err(err);
	return err->exit ? err->exit : EXIT_WRAPIX;
}

void cli_warn(const char *fmt, ...)
{
	char text[sizeof(((struct err *)NULL)->msg)], label[48];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(label, sizeof(label), "%s: warning", program_label());
	print_labelled(label, "33", text);
}

bool cli_ask(const char *question)
{
	char answer[16];

	if (!isatty(STDIN_FILENO))
		return false;
	printf("%s [y/N] ", question);
	fflush(stdout);
	return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

static bool has_option(const struct command *command, const char *name, size_t len)
{
	for (const struct opt *o = opt_first(command->syntax.opts); o; o = opt_next(o))
		if (o->name && strlen(o->name) == len && !strncmp(o->name, name, len))
			return true;
	return false;
}

/* Who types an option of another command means that, not the nearest word of this one. Of what many have, as --json,
 * none is meant. */
static void name_owner(const char *name, struct err *err)
{
	size_t len = strcspn(name, "="), n = 0;
	const char *first = NULL;

	for (const struct command *const *c = commands; *c; c++)
		if (has_option(*c, name, len)) {
			first = first ?: (*c)->name;
			n++;
		}
	if (!n || n > 5)
		return;
	err_usage(err, "unknown option '--%.*s'", (int)len, name);
	err_hint(err, "'%s %s' has it", this_program.name, first);
}

int cli_parse(int argc, char **argv, void *args, struct opt_rest *ret_rest)
{
	const struct command *command = command_find(argv[0]);
	struct err err = { 0 };
	int r = opt_parse(&command->syntax, args, argc, argv, ret_rest, &err);

	if (r < 0 && ret_rest->unknown)
		name_owner(ret_rest->unknown, &err);
	if (r < 0)
		return cli_fail(&err);
	if (r == OPT_WANTS_HELP) {
		cli_print_help(command);
		return 0;
	}
	return CLI_GO_ON;
}
