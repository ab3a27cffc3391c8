/* SPDX-License-Identifier: MIT */
/*
 * The command line of srt. Options are taken from anywhere before '--'; what is none of them is a word
 * of the command.
 */
#include <string.h>

#include "cli/exec.h"
#include "spec/srt.h"

static const struct row {
	char letter;
	const char *name;  /* NULL: none */
	const char *label; /* as messages and the help have it */
	const char *help;
	bool takes;
} rows[] = {
	{ 'V', "version", "-V, --version", "output the version number", false },
	{ 'd', "debug", "-d, --debug", "enable debug logging", false },
	{ 's', "settings", "-s, --settings <path>",
	  "path to config file (default: ~/.srt-settings.json)", true },
	{ 'c', NULL, "-c <command>", "run command string directly (like sh -c)", true },
	{ 0, "control-fd", "--control-fd <fd>",
	  "read config updates, one JSON object a line, from an inherited file descriptor >= 3",
	  true },
	{ 0, "violations", "--violations <path>",
	  "write what was refused to this file, or '-' for stderr, one JSON object a line", true },
	{ 0, "pass-fd", "--pass-fd <fd>", "let the command have this descriptor; repeatable",
	  true },
	{ 0, "annotate", "--annotate", "append what was refused to stderr, for an agent", false },
	{ 0, "json", "--json", "report errors, refusals and the exit as JSON on stderr", false },
	{ 'h', "help", "-h, --help", "display help for command", false },
};

static int print_help(void)
{
	_cleanup_str_ struct str out = { 0 };

	str_add(&out, "Usage: srt [options] [command...]\n\nRun commands in a sandbox with network "
		      "and filesystem restrictions\n\nOptions:\n");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		str_addf(&out, "  %-23s", rows[i].label);
		opt_add_wrapped(&out, rows[i].help, 25, 25, 80);
	}
	str_add(&out, "\nThis is wrapix " WRAPIX_VERSION ", which takes what srt " SRT_VERSION
		      " takes; srt(1) lists what differs.\n");
	fputs(out.s, stdout);
	return 0;
}

static int usage(const struct row *row, const char *fmt, ...) _printf_(2, 3);
static int usage(const struct row *row, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "error: option '%s' ", row->label);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return 1;
}

static int bad_fd(const struct row *row, const char *value)
{
	_cleanup_str_ struct str shown = { 0 };

	str_add_escaped(&shown, value);
	return usage(row,
		     "argument '%s' is invalid. must be an integer file descriptor >= 3 (0-2 are "
		     "stdin, stdout and stderr).",
		     shown.s ? shown.s : "");
}

static int add_pass_fd(struct exec_args *args, const struct row *row, const char *value)
{
	int fd = exec_parse_fd(value);

	if (fd < 0 || args->n_pass_fds == ARRAY_LEN(args->pass_fds))
		return bad_fd(row, value);
	args->pass_fds[args->n_pass_fds++] = fd;
	return CLI_GO_ON;
}

static int set(struct exec_args *args, const struct row *row, const char *value)
{
	switch (row->letter ? row->letter : row->name[0]) {
	case 'V':
		args->version = true;
		break;
	case 'd':
		args->debug = true;
		break;
	case 's':
		args->settings = value;
		break;
	case 'c': /* -c, or --control-fd */
		if (row->letter)
			args->string = value;
		else if ((args->control_fd = exec_parse_fd(value)) < 0)
			return bad_fd(row, value);
		break;
	case 'v':
		args->violations = value;
		break;
	case 'p':
		return add_pass_fd(args, row, value);
	case 'a':
		args->annotate = true;
		break;
	case 'j':
		args->json = true;
		break;
	default:
		return print_help();
	}
	return CLI_GO_ON;
}

static const struct row *find_letter(char letter)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].letter && rows[i].letter == letter)
			return &rows[i];
	return NULL;
}

static const struct row *find_name(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].name && strlen(rows[i].name) == len &&
		    !strncmp(rows[i].name, name, len))
			return &rows[i];
	return NULL;
}

/* What was found at argv[i]: the option, its value if it is in the same word, and whether more short
 * options follow. */
struct match {
	const struct row *row;
	const char *value;
};

/* Every letter but the last of a cluster is a switch; an unknown one makes the word no option. */
static bool match_cluster(const char *word, struct match ret[8], size_t *ret_n)
{
	*ret_n = 0;
	for (const char *p = word + 1; *p; p++) {
		const struct row *row = find_letter(*p);

		if (!row || *ret_n == 8)
			return false;
		ret[(*ret_n)++] = (struct match){ row, row->takes && p[1] ? p + 1 : NULL };
		if (row->takes)
			return true;
	}
	return *ret_n > 0;
}

static bool match_word(const char *word, struct match ret[8], size_t *ret_n)
{
	size_t len;

	if (word[0] != '-' || !word[1])
		return false;
	if (word[1] != '-')
		return match_cluster(word, ret, ret_n);
	len = strcspn(word + 2, "=");
	ret[0] = (struct match){ find_name(word + 2, len), word[2 + len] ? word + 3 + len : NULL };
	*ret_n = 1;
	return ret[0].row && (ret[0].row->takes || !ret[0].value);
}

/* The options of one word; *i moves on when a value is the next one. */
static int take_options(struct exec_args *args, const struct match *matches, size_t n, char **argv,
			int *i)
{
	int status = CLI_GO_ON;

	for (size_t k = 0; k < n && status == CLI_GO_ON; k++) {
		const struct row *row = matches[k].row;
		const char *value = matches[k].value;

		if (row->takes && !value) {
			value = argv[*i + 1];
			if (!value)
				return usage(row, "argument missing");
			(*i)++;
		}
		status = set(args, row, value);
	}
	return status;
}

/* Parses srt's command line into args, whose words it allocates. CLI_GO_ON, or the status to end
 * with after help, version or the error has been printed. */
static int srt_parse_args(int argc, char **argv, struct exec_args *args)
{
	size_t n = 0;

	*args = (struct exec_args){ .control_fd = -1, .srt = true };
	args->words = calloc((size_t)argc + 1, sizeof(*args->words));
	if (!args->words)
		return 1;
	for (int i = 1; i < argc; i++) {
		struct match matches[8];
		size_t n_matches;
		int status;

		if (!args->dashed && !strcmp(argv[i], "--")) {
			args->dashed = true;
		} else if (args->dashed || !match_word(argv[i], matches, &n_matches)) {
			args->words[n++] = argv[i];
		} else {
			status = take_options(args, matches, n_matches, argv, &i);
			if (status != CLI_GO_ON)
				return status;
		}
	}
	return CLI_GO_ON;
}

int cmd_srt(int argc, char **argv)
{
	struct exec_args args;
	int status = srt_parse_args(argc, argv, &args);

	if (status == CLI_GO_ON && args.version)
		status = puts(SRT_VERSION) < 0;
	else if (status == CLI_GO_ON)
		status = exec_main(&args);
	free(args.words);
	return status;
}
