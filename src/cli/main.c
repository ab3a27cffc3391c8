/* SPDX-License-Identifier: MIT */
/* A program with subcommands, such as wrapix: finds the one that is meant and hands over to it. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "os/proc.h"

const struct opt main_opts[] = {
	HELP,
	{ 'V', "version", FLAG(main_args, version), .help = "print the version" },
	{ 0, "build-info", FLAG(main_args, build_info),
	  .help = "with --version: say how it was built as well" },
	{ .kind = OPT_END },
};

const struct command *command_find(const char *name)
{
	for (const struct command *const *c = commands; *c; c++)
		if (!strcmp((*c)->name, name))
			return *c;
	return NULL;
}

int command_unknown(const char *name, struct err *err)
{
	const char *names[64], *near;
	size_t n = 0;

	for (const struct command *const *c = commands; *c && n < ARRAY_LEN(names); c++)
		names[n++] = (*c)->name;
	near = str_nearest(name, names, n);
	if (near)
		return err_usage(err, "unknown command '%s'; did you mean '%s'?", name, near);
	err_usage(err, "unknown command '%s'", name);
	return err_hint(err, "'%s help' lists the commands", this_program.name);
}

/*
 * Without this a program started with a closed descriptor 1 would open some file as descriptor 1
 * and then print into it. What is opened here cannot be used in the direction that is meant, so
 * that reading or writing fails as it did.
 */
static int open_missing_stdio(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		/* The lowest free number is fd. Not O_CLOEXEC: the command needs it as well. */
		if (open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
			return -EBADF;
	}
	return 0;
}

/* Text that never reached standard output must not look like success. */
static int flush(int status)
{
	struct err err = { 0 };

	errno = EIO; /* what an earlier write failed with nobody knows any more */
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	err_errno(&err, errno, "writing to standard output");
	return cli_fail(&err);
}

static int unknown(const char *word)
{
	_cleanup_str_ struct str typed = { 0 };
	struct err err = { 0 };
	struct stat st;

	command_unknown(word, &err);
	if (command_find("run") && !stat(word, &st) && S_ISDIR(st.st_mode)) {
		str_add_shell(&typed, word);
		err_usage(&err, "unknown command '%s'", word);
		err_hint(&err, "to start a sandbox there: wrapix run %s", typed.s);
	}
	return cli_fail(&err);
}

/* 'wrapix --help', 'wrapix --version', and what is neither. */
static int main_option(int argc, char **argv)
{
	static const struct opt_syntax syntax = { main_opts };
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct main_args args = { 0 };
	struct err err = { 0 };
	int r = opt_parse(&syntax, &args, argc, argv, &rest, &err);

	if (r == OPT_WANTS_HELP)
		cli_print_help(NULL);
	else if (!r && args.version)
		return command_version.run(
			1 + args.build_info,
			(char *[]){ (char *)"version",
				    args.build_info ? (char *)"--build-info" : NULL, NULL });
	else if (!r && args.build_info)
		r = err_usage(&err, "--build-info goes with --version");
	else if (!r) /* a bare '--' */
		r = command_unknown(argv[1], &err);
	return r < 0 ? cli_fail(&err) : 0;
}

static int dispatch(int argc, char **argv)
{
	const struct command *command;

	if (this_program.run)
		return this_program.run(argc, argv);
	for (size_t i = 0; argc > 0 && this_program.others[i].name; i++)
		if (!strcmp(path_name(argv[0]), this_program.others[i].name))
			return this_program.others[i].run(argc, argv);
	if (argc < 2) {
		cli_print_help(NULL);
		return 0;
	}
	if (argv[1][0] == '-')
		return main_option(argc, argv);
	command = command_find(argv[1]);
	if (command && this_program.begin)
		this_program.begin();
	return command ? command->run(argc - 1, argv + 1) : unknown(argv[1]);
}

int main(int argc, char **argv)
{
	if (open_missing_stdio() < 0)
		return EXIT_WRAPIX;
	os_keep_children();
	return flush(dispatch(argc, argv));
}
