/* SPDX-License-Identifier: MIT */
/*
 * A command line with a NUL between its words, through a table with every kind of row. Whatever is
 * accepted must account for every word, and whatever is refused must say why.
 */
#include <errno.h>
#include <string.h>

#include "base/opt.h"
#include "fuzz.h"

struct args {
	bool verbose, force;
	const char *name, *mode;
	size_t calls;
};

static const char *const *mode_words(_unused_ const char *name)
{
	static const char *const words[] = { "open", "none", "host", NULL };

	return words;
}

static int count_call(void *ctx, _unused_ const struct opt *opt, const char *value, struct err *err)
{
	struct args *args = ctx;

	if (strchr(value, '!'))
		return err_usage(err, "refused");
	args->calls++;
	return 0;
}

static const struct opt more_opts[] = {
	{ 0, "mode", "MODE", .kind = OPT_STRING, .offset = offsetof(struct args, mode),
	  .words = mode_words, .help = "words" },
	{ 'h', "help", .kind = OPT_HELP, .help = "help" },
	{ .kind = OPT_END },
};

static const struct opt opts[] = {
	{ 'v', "verbose", .kind = OPT_FLAG, .offset = offsetof(struct args, verbose) },
	{ 'f', "force", .kind = OPT_FLAG, .offset = offsetof(struct args, force) },
	{ 'n', "name", "NAME", .kind = OPT_STRING, .offset = offsetof(struct args, name) },
	{ 'e', "env", "K=V", .kind = OPT_CALL, .call = count_call },
	{ .kind = OPT_MORE, .more = more_opts },
};

static const struct opt_syntax syntaxes[] = {
	{ opts, .max = 1, .operand = "DIR", .command = true },
	{ opts, .min = 1, .max = 3, .operand = "NAME" },
};

enum { MAX_WORDS = 64 };

/* argv[0] and the words of the text; the text stays the caller's. */
static int split(char *text, size_t size, char **argv)
{
	int argc = 0;

	argv[argc++] = (char *)"fuzz";
	for (size_t i = 0; i < size && argc < MAX_WORDS; i += strlen(text + i) + 1)
		argv[argc++] = text + i;
	argv[argc] = NULL;
	return argc;
}

static void parse(const struct opt_syntax *syntax, int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct args args = { 0 };
	struct err err = { 0 };
	int r = opt_parse(syntax, &args, argc, argv, &rest, &err);

	if (r == OPT_WANTS_HELP)
		return;
	if (r < 0) {
		check(r == -EINVAL && err.exit == EXIT_USAGE && err.msg[0] && !rest.operands);
		return;
	}
	check(rest.n_operands >= syntax->min && rest.n_operands <= syntax->max);
	check(!rest.operands[rest.n_operands]);
	check(!rest.command || (syntax->command && rest.command[0] && !argv[argc]));
	check(!args.mode || !strcmp(args.mode, "open") || !strcmp(args.mode, "none") ||
	      !strcmp(args.mode, "host"));
	check(rest.n_operands + args.calls < (size_t)argc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *argv[MAX_WORDS + 1], *text;
	int argc;

	if (size > 65536)
		return 0;
	text = calloc(1, size + 1);
	check(text);
	if (size)
		memcpy(text, data, size);
	argc = split(text, size, argv);
	for (size_t i = 0; i < ARRAY_LEN(syntaxes); i++)
		parse(&syntaxes[i], argc, argv);
	free(text);
	return 0;
}
