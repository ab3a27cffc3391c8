/* SPDX-License-Identifier: MIT */
/* wrapix run and wrapix plan: the command line becomes a spec, and the library does the rest. */
#include <fcntl.h>
#include <string.h>

#include "api/api.h"
#include "api/on.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/cow.h"
#include "cli/exec.h"
#include "os/fs.h"
#include "os/proc.h"
#include "os/stdio.h"

int cli_fail_public(const struct wrapix_error *error)
{
	struct err err = { .code = error->code, .exit = error->exit_status };

	snprintf(err.msg, sizeof(err.msg), "%s", error->message);
	snprintf(err.hint, sizeof(err.hint), "%s", error->hint);
	return cli_fail(&err);
}

/* A session to go on with says where it was, and what it is called. */
static int set_resumed(const struct run_args *args, bool has_dir)
{
	struct wrapix_error error;
	const struct cow_info *info;
	struct arena arena = { 0 };
	struct cow_info *list = NULL;
	struct err err;
	size_t n = 0;
	int r = cli_cow_list(&arena, &list, &n, &err);

	info = r < 0 ? NULL : cow_find(list, n, args->resume);
	if (r == 0 && !info) {
		r = err_usage(&err, "there is no copy-on-write session '%s'", args->resume);
		err_hint(&err, "'wrapix ps' lists those that are kept");
	}
	known(r < 0 || info);
	if (r == 0 && has_dir)
		r = err_usage(&err, "a session that is resumed has its directory ('%s')",
			      info->project);
	if (r < 0) {
		arena_release(&arena);
		return cli_fail(&err);
	}
	wrapix_spec_set_dir(args->spec, info->project);
	if (wrapix_spec_set(args->spec, "workspace", "cow", &error) < 0 ||
	    wrapix_spec_set(args->spec, "resume", info->id, &error) < 0 ||
	    wrapix_spec_set(args->spec, "name", info->name, &error) < 0)
		r = cli_fail_public(&error);
	arena_release(&arena);
	return r ? r : CLI_GO_ON;
}

int cli_parse_run(int argc, char **argv, struct run_args *args)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct err err = { 0 };
	int status;

	*args = (struct run_args){ .spec = wrapix_spec_new(".") };
	if (!args->spec)
		return EXIT_WRAPIX;
	args->spec->spec.lends = true;
	status = cli_parse(argc, argv, args, &rest);
	if (status != CLI_GO_ON)
		return status;
	if (rest.n_operands)
		wrapix_spec_set_dir(args->spec, rest.operands[0]);
	if (rest.command && rest.command[0])
		wrapix_spec_set_command(args->spec, (const char *const *)rest.command);
	if (args->from && cli_run_claude(args->spec, &err) < 0)
		return cli_fail(&err);
	return args->resume ? set_resumed(args, rest.n_operands > 0) : CLI_GO_ON;
}

/* True when there is no line to be made for it. Programs try many places that are read-only, and say so themselves:
 * of these the first has a line, and leaves the others to what is rarer. */
static bool is_counted(struct run_args *args, const struct wrapix_event *event)
{
	bool read_only = event->number == -2;

	args->host_refused |= event->number >= 0;
	if (denials_again(&args->denials, event->text))
		return true;
	if (read_only && args->read_only_refused) {
		args->denials.others++;
		return true;
	}
	args->read_only_refused |= read_only;
	return false;
}

/* What happens around the command, in one line each; silent where all is as usual. */
static void on_event(void *ctx, const struct wrapix_event *event)
{
	struct run_args *args = ctx;
	_cleanup_str_ struct str text = { 0 };
	const char *eol;

	if (event->type == WRAPIX_DENIED && is_counted(args, event))
		return;
	/* While the command runs the terminal is in raw mode. */
	eol = args->running && isatty(STDERR_FILENO) ? "\r\n" : "\n";
	str_add_line(&text, event->text ? event->text : "");
	switch (event->type) {
	case WRAPIX_NOTE:
		fprintf(stderr, "wrapix: %s%s", text.s, eol);
		break;
	case WRAPIX_WARNING:
		fprintf(stderr, "wrapix: warning: %s%s", text.s, eol);
		break;
	case WRAPIX_LIMIT:
		fprintf(stderr, "wrapix: limit reached: %s%s", text.s, eol);
		break;
	case WRAPIX_DENIED:
		denials_add(&args->denials, event->text, text.s, NULL);
		break;
	case WRAPIX_RULE:
		if (args->verbose)
			fprintf(stderr, "wrapix: from now on: %s %s%s",
				event->number ? "deny" : "allow", text.s, eol);
		break;
	case WRAPIX_LOGGED:
		snprintf(args->denials.log, sizeof(args->denials.log), "%s", text.s ? text.s : "");
		break;
	case WRAPIX_STARTED:
		args->running = true;
		if (args->verbose)
			fprintf(stderr, "wrapix: started, pid %d%s", event->number, eol);
		break;
	case WRAPIX_QUIET:
		os_drop_code();
		break;
	case WRAPIX_EXITED:
		if (args->verbose)
			fprintf(stderr, "wrapix: ended with status %d%s", event->number, eol);
		break;
	default:
		break;
	}
}

/* For this machine, or for the one in the file. */
static int make_plan(const struct run_args *args, struct wrapix_plan **ret)
{
	_cleanup_free_ char *facts = NULL;
	struct wrapix_error error;
	struct err err;
	size_t len = 0;
	int r;

	if (args->host_file) {
		r = os_read_file_at(AT_FDCWD, args->host_file, 1 << 20, &facts, &len);
		if (r < 0) {
			err_errno(&err, -r, "reading '%s'", args->host_file);
			err_hint(&err, "'wrapix plan --facts' prints such a file");
			return cli_fail(&err);
		}
	}
	if (wrapix_plan_make_for(args->spec, facts, len, ret, &error) < 0)
		return cli_fail_public(&error);
	return CLI_GO_ON;
}

static int print_plan(const struct run_args *args)
{
	struct wrapix_plan *plan = NULL;
	int status = make_plan(args, &plan);

	if (status != CLI_GO_ON)
		return status;
	wrapix_plan_print(plan,
			  args->facts  ? WRAPIX_FACTS
			  : args->json ? WRAPIX_JSON
				       : WRAPIX_TEXT,
			  stdout);
	wrapix_plan_free(plan);
	return ferror(stdout) || fflush(stdout) ? EXIT_WRAPIX : 0;
}

static int print_exec_plan(const struct run_args *args)
{
	struct exec_args exec = {
		.settings = args->settings,
		.json = args->json,
		.control_fd = -1,
		.words = args->spec->spec.cmd,
		.dashed = true,
		.plan = true,
		.seatbelt = args->spec->spec.engine == ENGINE_APPLE,
	};

	return exec_main(&exec);
}

static int run_plan(struct run_args *args)
{
	struct wrapix_error error;
	struct wrapix_plan *plan = NULL;
	struct os_stdio noted;
	int status, r;

	wrapix_spec_set_will_run(args->spec);
	args->spec->make_image = cli_make_image;
	status = make_plan(args, &plan);
	if (status != CLI_GO_ON)
		return status;
	os_stdio_note(&noted);
	r = wrapix_plan_run(plan, on_event, args, &status, &error);
	os_stdio_restore(&noted);
	if (r < 0)
		status = cli_fail_public(&error);
	denials_print(&args->denials,
		      args->host_refused ? "--allow HOST[:PORT] opens a host" : NULL);
	denials_release(&args->denials);
	wrapix_plan_free(plan);
	return status;
}

static void say_on(_unused_ void *ctx, const char *text)
{
	_cleanup_str_ struct str shown = { 0 };

	str_add_line(&shown, text);
	fprintf(stderr, "wrapix: %s\n", shown.s);
}

static int run_on(const struct run_args *args)
{
	const struct on_hooks hooks = { .say = say_on };
	_cleanup_str_ struct str text = { 0 };
	struct err err;
	int status;

	if (args->dry_run) {
		if (api_plan_on(args->spec, args->on, &args->task, &text, &err) < 0)
			return cli_fail(&err);
		fputs(text.s, stdout);
		return fflush(stdout) ? EXIT_WRAPIX : 0;
	}
	if (api_run_on(args->spec, args->on, &args->task, isatty(0) && isatty(1), &hooks, &status,
		       &err) < 0)
		return cli_fail(&err);
	return status;
}

static int cmd_run(int argc, char **argv)
{
	struct run_args args;
	int status = cli_parse_run(argc, argv, &args);

	if (status == CLI_GO_ON)
		status = args.on        ? run_on(&args)
			 : args.dry_run ? print_plan(&args)
					: run_plan(&args);
	wrapix_spec_free(args.spec);
	return status;
}

static int cmd_plan(int argc, char **argv)
{
	struct run_args args;
	int status = cli_parse_run(argc, argv, &args);

	if (status == CLI_GO_ON)
		status = args.exec ? print_exec_plan(&args) : print_plan(&args);
	wrapix_spec_free(args.spec);
	return status;
}

#define DIR_AND_COMMAND .max = 1, .operand = "DIR", .complete = COMPLETE_DIR, .command = true

const struct command command_run = {
	.name = "run",
	.section = SECTION_SANDBOX,
	.usage = "run [DIR] [options] [-- CMD...]",
	.summary = "start the agent, or CMD, in a sandbox",
	.description = "Starts a sandbox in DIR (default: here) and in it the agent (default: "
		       "Claude Code) or CMD. The project is at /workspace, read-write; the host's "
		       "programs are there read-only; nothing else of the host is.\n"
		       "The exit status is the command's own; 128+N when signal N killed it; 2, "
		       "125, 126 or 127 when it did not start.",
	.examples = EXAMPLES("wrapix run", "the agent, in this directory",
			     "wrapix run ~/src/site --network none -- make test",
			     "one command, without a network",
			     "wrapix run --env API_KEY --mount ~/data:/data",
			     "with a variable and a directory of the host"),
	.syntax = { run_opts, DIR_AND_COMMAND },
	.run = cmd_run,
};

const struct command command_plan = {
	.name = "plan",
	.section = SECTION_SANDBOX,
	.usage = "plan [DIR] [options] [-- CMD...]",
	.summary = "print what 'run' would do, and do nothing",
	.description = "Takes what 'run' takes and prints every step in order. With --host, "
		       "for another machine than this one.",
	.examples = EXAMPLES("wrapix plan --network none",
			     "what a run without a network is made of",
			     "wrapix plan --network filtered --allow example.com --json",
			     "a run that reaches one host, for a program to read"),
	.syntax = { plan_opts, DIR_AND_COMMAND },
	.run = cmd_plan,
};
