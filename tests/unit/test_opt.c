/* SPDX-License-Identifier: MIT */
/* Option tables: every way to write an option, every way to get one wrong, and the help text. */
#include "base/opt.h"

#include <errno.h>

#include "lib/tap.h"

struct args {
	bool verbose, force;
	const char *name, *mode;
	char seen[64]; /* what the callback got, each with a ';' */
};

static const char *const *mode_words(const char *name)
{
	static const char *const words[] = { "open", "none", "host", NULL };

	return strcmp(name, "mode") == 0 ? words : NULL;
}

static int collect(void *ctx, const struct opt *opt, const char *value, struct err *err)
{
	struct args *args = ctx;
	size_t len = strlen(args->seen);

	if (!strcmp(value, "bad"))
		return err_usage(err, "--%s: refused", opt->name);
	snprintf(args->seen + len, sizeof(args->seen) - len, "%s;", value);
	return 0;
}

static const struct opt more_opts[] = {
	{ 0, "mode", "MODE", .kind = OPT_STRING, .offset = offsetof(struct args, mode),
	  .words = mode_words, .help = "one of three words" },
	{ 'h', "help", .kind = OPT_HELP, .help = "show this help" },
	{ .kind = OPT_END },
};

static const struct opt opts[] = {
	{ 'v', "verbose", .kind = OPT_FLAG, .offset = offsetof(struct args, verbose),
	  .help = "say more" },
	{ 'f', "force", .kind = OPT_FLAG, .offset = offsetof(struct args, force), .help = "do it" },
	{ 'n', "name", "NAME", .kind = OPT_STRING, .offset = offsetof(struct args, name),
	  .help = "call it so" },
	{ 'e', "env", "K=V", .kind = OPT_CALL, .call = collect, .repeat = true,
	  .help = "a variable, and a text that is long enough to need a second line" },
	{ 0, "a-very-long-name-of-an-option", "ARGUMENT", .kind = OPT_CALL, .call = collect,
	  .help = "stands on a line of its own" },
	{ .kind = OPT_MORE, .more = more_opts },
};

static const struct opt_syntax with_command = { opts, .max = 1, .operand = "DIR", .command = true };
static const struct opt_syntax with_names = { opts, .min = 1, .max = 3, .operand = "NAME" };

enum { MAX_WORDS = 16 };

/* A command line, by which rules, and all that comes of it. */
struct good {
	const struct opt_syntax *syntax;
	const char *argv[MAX_WORDS];
	bool verbose, force;
	const char *name, *mode, *seen, *operands, *command;
	int ret;
};

static const struct good good[] = {
	{ &with_command, { "w" } },
	{ &with_command, { "w", "-v" }, .verbose = true },
	{ &with_command, { "w", "-vf" }, .verbose = true, .force = true },
	{ &with_command, { "w", "--verbose", "--force" }, .verbose = true, .force = true },
	{ &with_command, { "w", "-n", "X" }, .name = "X" },
	{ &with_command, { "w", "-nX" }, .name = "X" },
	{ &with_command, { "w", "-n=X" }, .name = "=X" },
	{ &with_command, { "w", "-vnX" }, .verbose = true, .name = "X" },
	{ &with_command, { "w", "-vn", "X" }, .verbose = true, .name = "X" },
	{ &with_command, { "w", "-nvf" }, .name = "vf" },
	{ &with_command, { "w", "--name", "X" }, .name = "X" },
	{ &with_command, { "w", "--name=X" }, .name = "X" },
	{ &with_command, { "w", "--name=" }, .name = "" },
	{ &with_command, { "w", "--name", "" }, .name = "" },
	{ &with_command, { "w", "--name=a=b" }, .name = "a=b" },
	{ &with_command, { "w", "--name=--" }, .name = "--" },
	{ &with_command, { "w", "--name", "-v" }, .name = "-v" },
	{ &with_command, { "w", "--name", "A", "-nB" }, .name = "B" },
	{ &with_command, { "w", "--env", "A=1", "-eB=2", "--env=C" }, .seen = "A=1;B=2;C;" },
	{ &with_command, { "w", "--mode", "none" }, .mode = "none" },
	{ &with_command, { "w", "dir" }, .operands = "dir;" },
	{ &with_command, { "w", "" }, .operands = ";" },
	{ &with_command, { "w", "-" }, .operands = "-;" },
	{ &with_command, { "w", "dir", "-v" }, .verbose = true, .operands = "dir;" },
	{ &with_command,
	  { "w", "-v", "dir", "-f" },
	  .verbose = true,
	  .force = true,
	  .operands = "dir;" },
	{ &with_command,
	  { "w", "dir", "--", "cmd", "-v", "--", "--name" },
	  .operands = "dir;",
	  .command = "cmd;-v;--;--name;" },
	{ &with_command, { "w", "--", "cmd" }, .command = "cmd;" },
	{ &with_command, { "w", "--", "" }, .command = ";" },
	{ &with_command, { "w", "--help" }, .ret = OPT_WANTS_HELP },
	{ &with_command, { "w", "-vh", "--unknown" }, .verbose = true, .ret = OPT_WANTS_HELP },
	{ &with_command, { "w", "--", "cmd", "--help" }, .command = "cmd;--help;" },
	{ &with_names, { "w", "a", "-v", "b" }, .verbose = true, .operands = "a;b;" },
	{ &with_names, { "w", "--", "-v", "--", "c" }, .operands = "-v;--;c;" },
};

struct bad {
	const struct opt_syntax *syntax;
	const char *argv[MAX_WORDS];
	const char *msg, *hint;
};

#define LISTS "--help lists the options"

static const struct bad bad[] = {
	{ &with_command,
	  { "w", "--nmae", "X" },
	  "unknown option '--nmae'; did you mean '--name'?" },
	{ &with_command, { "w", "--nam=X" }, "unknown option '--nam'; did you mean '--name'?" },
	{ &with_command, { "w", "--mod" }, "unknown option '--mod'; did you mean '--mode'?" },
	{ &with_command, { "w", "--xyzzy" }, "unknown option '--xyzzy'", LISTS },
	{ &with_command, { "w", "--=X" }, "unknown option '--'", LISTS },
	{ &with_command, { "w", "-x" }, "unknown option '-x'", LISTS },
	{ &with_command, { "w", "-vx" }, "unknown option '-x' in '-vx'", LISTS },
	{ &with_command, { "w", "-\xc3\xa9" }, "unknown option '-\xc3\xa9'", LISTS },
	{ &with_command, { "w", "-mode" }, "unknown option '-mode'; did you mean '--mode'?" },
	{ &with_command, { "w", "-mode=x" }, "unknown option '-mode=x'; did you mean '--mode'?" },
	{ &with_command, { "w", "--verbose=1" }, "option '--verbose' takes no argument" },
	{ &with_command, { "w", "--verbose=" }, "option '--verbose' takes no argument" },
	{ &with_command, { "w", "--name" }, "option '--name' needs an argument: NAME" },
	{ &with_command, { "w", "-vn" }, "option '-n' needs an argument: NAME" },
	{ &with_command, { "w", "--name", "--", "X" }, "option '--name' needs an argument: NAME" },
	{ &with_command, { "w", "-n", "--" }, "option '-n' needs an argument: NAME" },
	{ &with_command,
	  { "w", "--mode", "opne" },
	  "--mode: 'opne' is not one of open, none, host; did you mean 'open'?" },
	{ &with_command,
	  { "w", "--mode=zzzzzz" },
	  "--mode: 'zzzzzz' is not one of open, none, host" },
	{ &with_command, { "w", "--env", "A", "--env=bad" }, "--env: refused" },
	{ &with_command,
	  { "w", "a", "b" },
	  "unexpected argument 'b'",
	  "a command to run follows '--'" },
	{ &with_command, { "w", "--" }, "no command after '--'" },
	{ &with_names, { "w" }, "NAME is missing", "--help shows the usage" },
	{ &with_names, { "w", "a", "b", "c", "d" }, "unexpected argument 'd'" },
	{ &with_names, { "w", "a", "--", "b", "c", "d" }, "unexpected argument 'd'" },
};

static int count(const char *const *argv)
{
	int argc = 0;

	while (argc < MAX_WORDS && argv[argc])
		argc++;
	return argc;
}

static void line_of(const char *const *argv, char *ret, size_t size)
{
	ret[0] = '\0';
	for (int i = 1; i < count(argv); i++) {
		size_t len = strlen(ret);

		snprintf(ret + len, size - len, "%s%s", i > 1 ? " " : "", argv[i]);
	}
}

static void join(char *const *words, char *ret, size_t size)
{
	ret[0] = '\0';
	for (; words && *words; words++) {
		size_t len = strlen(ret);

		snprintf(ret + len, size - len, "%s;", *words);
	}
}

/* NULL is not "". */
static bool same(const char *got, const char *want)
{
	return got && want ? !strcmp(got, want) : got == want;
}

static bool same_text(const char *got, const char *want)
{
	return !strcmp(got, want ? want : "");
}

static void test_good(const struct good *row)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	char line[256], operands[256], command[256];
	struct args args = { 0 };
	struct err err = { 0 };
	int r;

	line_of(row->argv, line, sizeof(line));
	r = opt_parse(row->syntax, &args, count(row->argv), (char *const *)row->argv, &rest, &err);
	join(rest.operands, operands, sizeof(operands));
	join(rest.command, command, sizeof(command));
	ok(r == row->ret && args.verbose == row->verbose && args.force == row->force &&
		   same(args.name, row->name) && same(args.mode, row->mode) &&
		   same_text(args.seen, row->seen) && same_text(operands, row->operands) &&
		   same_text(command, row->command),
	   "'%s'", line);
	if (r < 0)
		diag("%s", err.msg);
}

static void test_bad(const struct bad *row)
{
	struct opt_rest rest = { 0 };
	struct args args = { 0 };
	struct err err = { 0 };
	char line[256];
	int r;

	line_of(row->argv, line, sizeof(line));
	r = opt_parse(row->syntax, &args, count(row->argv), (char *const *)row->argv, &rest, &err);
	is_int(r, -EINVAL, "'%s' is refused", line);
	is_int(err.exit, EXIT_USAGE, "... as a usage error");
	is_str(err.msg, row->msg, "... with its words");
	is_str(err.hint, row->hint ? row->hint : "", "... and its hint");
	ok(!rest.operands, "... and leaves nothing to release");
}

/* A run reads its flags twice: once for DIR and the profile, once on top of the files. */
static void test_twice(void)
{
	char *argv[] = { (char *)"w", (char *)"-v", (char *)"dir", (char *)"--name", (char *)"X" };

	for (int i = 0; i < 2; i++) {
		_cleanup_opt_rest_ struct opt_rest rest = { 0 };
		struct args args = { 0 };
		struct err err = { 0 };

		ok(!opt_parse(&with_command, &args, 5, argv, &rest, &err) && args.verbose &&
			   rest.n_operands == 1 && same(args.name, "X"),
		   "argv can be read again, %d", i);
	}
}

static void test_long_words(void)
{
	static char word[4096];
	char *argv[] = { (char *)"w", word };
	struct opt_rest rest = { 0 };
	struct args args = { 0 };
	struct err err = { 0 };

	memset(word, 'x', sizeof(word) - 1);
	memcpy(word, "--", 2);
	is_int(opt_parse(&with_command, &args, 2, argv, &rest, &err), -EINVAL, "a word of 4 KiB");
	ok(str_starts(err.msg, "unknown option '--xxx"), "... is named as far as there is room");
}

static void test_walk(void)
{
	static const struct opt empty[] = { { .kind = OPT_END } };
	char names[128] = "";

	for (const struct opt *o = opt_first(opts); o; o = opt_next(o)) {
		size_t len = strlen(names);

		snprintf(names + len, sizeof(names) - len, "%s ", o->name);
	}
	is_str(names, "verbose force name env a-very-long-name-of-an-option mode help ",
	       "a walk goes on in the next table");
	ok(!opt_first(empty), "an empty table has no row");
}

static void test_help(void)
{
	_cleanup_str_ struct str out = { 0 };

	opt_add_help(&out, opts, 50);
	is_str(out.s,
	       "  -v, --verbose    say more\n"
	       "  -f, --force      do it\n"
	       "  -n, --name NAME  call it so\n"
	       "  -e, --env K=V    a variable, and a text that is\n"
	       "                   long enough to need a second\n"
	       "                   line\n"
	       "      --a-very-long-name-of-an-option ARGUMENT\n"
	       "                   stands on a line of its own\n"
	       "      --mode MODE  one of three words\n"
	       "  -h, --help       show this help\n",
	       "the help is aligned and wrapped");
}

static void test_wrapped(void)
{
	static const struct {
		const char *text;
		size_t column, indent, width;
		const char *want;
	} rows[] = {
		{ "", 0, 0, 10, "\n" },
		{ "one", 0, 0, 10, "one\n" },
		{ "one two", 0, 0, 7, "one two\n" },
		{ "one two", 0, 0, 6, "one\ntwo\n" },
		{ "one two", 3, 3, 9, "one\n   two\n" },
		{ "  one   two  ", 0, 0, 20, "one two\n" },
		{ "longer-than-the-line x", 0, 2, 5, "longer-than-the-line\n  x\n" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_str_ struct str out = { 0 };

		opt_add_wrapped(&out, rows[i].text, rows[i].column, rows[i].indent, rows[i].width);
		is_str(out.s, rows[i].want, "wrapped at %zu: '%s'", rows[i].width, rows[i].text);
	}
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		test_good(&good[i]);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		test_bad(&bad[i]);
	test_twice();
	test_long_words();
	test_walk();
	test_help();
	test_wrapped();
	return done();
}
