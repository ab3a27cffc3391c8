/* SPDX-License-Identifier: MIT */
/* wrapix exec: one command under the settings of sandbox-runtime; also what 'srt' does once its command
 * line is read. */
#include "cli/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "api/exec.h"
#include "base/json.h"
#include "os/fs.h"
#include "os/proc.h"
#include "spec/claude.h"

enum { REPORT_MAX = 16 << 20 }; /* bytes */

/* What is said while the command runs, and to whom. */
struct speaker {
	const struct exec_args *args;
	int report;      /* --violations; -1: none */
	size_t reported; /* bytes of it */
	bool debug;
	bool annotate; /* an agent reads the command's standard error */
	struct fix_place place;
	struct denials denials;
};

int exec_parse_fd(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	if (!digits || digits > 7 || text[digits])
		return -1;
	return strtol(text, NULL, 10) >= 3 ? (int)strtol(text, NULL, 10) : -1;
}

/* --- what is said --- */

/* While a command has the terminal it is in raw mode. */
static void say_line(const char *line)
{
	_cleanup_str_ struct str out = { 0 };

	str_addf(&out, "%s%s", line, isatty(STDERR_FILENO) ? "\r\n" : "\n");
	fflush(stdout);
	(void)os_write_all(STDERR_FILENO, out.s, out.len);
}

static void say(const struct speaker *s, const char *type, const char *prefix, const char *text)
{
	_cleanup_str_ struct str line = { 0 };

	if (s->args->json) {
		str_addf(&line, "{\"type\":\"%s\",\"text\":", type);
		json_add_string(&line, text);
		str_add(&line, "}");
	} else {
		str_add(&line, prefix);
		str_add_escaped(&line, text);
	}
	say_line(line.s);
}

static void on_warning(void *ctx, const char *text)
{
	const struct speaker *s = ctx;

	say(s, "warning", s->args->srt ? "Warning: " : "wrapix: warning: ", text);
}

static void on_debug(void *ctx, const char *text)
{
	const struct speaker *s = ctx;

	if (s->debug)
		say(s, "debug", "[SandboxDebug] ", text);
}

/* Who asks for srt's switches knows what they do, and hears of it with every command. */
static void on_weaker(void *ctx, const char *text)
{
	const struct speaker *s = ctx;

	if (s->args->srt)
		on_debug(ctx, text);
	else
		on_warning(ctx, text);
}

/* Each time; a flood costs no more than counting. */
static void on_denied(void *ctx, const struct denial *denial, const char *line)
{
	struct speaker *s = ctx;
	_cleanup_str_ struct str text = { 0 }, change = { 0 };
	struct arena arena = { 0 };
	struct fix fix;
	bool again;

	if (s->debug)
		say(s, "debug", "[SandboxDebug] ", line);
	again = denials_again(&s->denials, line);
	if (again && (!s->annotate || s->denials.lines.len == DENIALS_ANNOTATED))
		return;
	fix_make(&arena, denial, &s->place, &fix);
	denial_add_act(&text, denial, s->place.home);
	str_add(&text, ": ");
	denial_add_why(&text, denial);
	fix_add_text(&change, &fix);
	if (fix.risk)
		str_addf(&change, " (careful: %s)", fix.risk);
	if (!again)
		denials_add(&s->denials, line, text.s, fix.key ? change.s : NULL);
	if (s->annotate)
		denials_add_line(&s->denials, line, fix.key ? change.s : NULL);
	arena_release(&arena);
}

static void on_line(void *ctx, const char *line)
{
	struct speaker *s = ctx;
	_cleanup_str_ struct str out = { 0 };

	if (s->report == STDERR_FILENO || s->args->json)
		say_line(line);
	/* A command that is refused for ever must not fill the disk. */
	if (s->report <= STDERR_FILENO || s->reported >= REPORT_MAX)
		return;
	str_addf(&out, "%s\n", line);
	s->reported += out.len;
	if (s->reported >= REPORT_MAX)
		str_add(&out, "{\"type\":\"truncated\"}\n");
	(void)os_write_all(s->report, out.s, out.len);
}

static void on_settings(void *ctx, bool control, const char *why)
{
	const struct speaker *s = ctx;
	char text[512];

	if (!why) {
		on_debug(ctx,
			 control ? "config updated via control fd" : "settings file read again");
		return;
	}
	if (control) {
		snprintf(text, sizeof(text),
			 "Invalid config on control fd %d: ignored, previous config still in force",
			 s->args->control_fd);
		say(s, "warning", "", text);
		on_debug(ctx, why);
		return;
	}
	snprintf(text, sizeof(text), "%.*s", (int)strcspn(why, "\n"), why);
	say(s, "warning", "", text);
	say(s, "warning", "", "The previous config is still in force.");
}

/* At the end, unless a report was asked for; srt says nothing of itself to people. */
static void tell_denials(struct speaker *s)
{
	if (s->annotate)
		denials_annotate(&s->denials);
	else if (!s->args->srt && s->report < 0 && !s->args->json)
		denials_print(&s->denials, NULL);
	denials_release(&s->denials);
}

/* --- errors --- */

static int fail(const struct speaker *s, const struct err *err)
{
	bool command = err->exit == EXIT_NOEXEC || err->exit == EXIT_NOTFOUND;

	if (!s->args->srt && !s->args->json)
		return cli_fail(err);
	say(s, "error", "Error: ", err->msg);
	if (err->hint[0])
		say(s, "hint", "hint: ", err->hint);
	return command || !s->args->srt ? err->exit : 1;
}

static int fail_text(const struct speaker *s, const char *text)
{
	struct err err = { .code = EINVAL, .exit = EXIT_USAGE };

	if (s->args->srt) {
		say(s, "error", "Error: ", text);
		return 1;
	}
	snprintf(err.msg, sizeof(err.msg), "%s", text);
	return fail(s, &err);
}

/* The two lines of settings that are wrong, which hold other people's words. */
static int fail_settings(const struct speaker *s, const char *why)
{
	for (const char *p = why; *p;) {
		_cleanup_str_ struct str line = { 0 };
		size_t len = strcspn(p, "\n");

		str_addn(&line, p, len);
		if (s->args->json)
			say(s, "error", "", line.s);
		else
			say_line(line.s);
		p += len + (p[len] == '\n');
	}
	return s->args->srt ? 1 : EXIT_USAGE;
}

/* --- descriptors --- */

/* What a read would say, before anything is started. */
static int check_control(const struct speaker *s)
{
	int fd = s->args->control_fd, flags = fd < 0 ? 0 : fcntl(fd, F_GETFL);
	const char *what = "EBADF: bad file descriptor, read";
	struct stat st;
	char text[256];

	if (fd < 0)
		return CLI_GO_ON;
	if (flags >= 0 && (flags & O_ACCMODE) != O_WRONLY && !(flags & O_PATH) && !fstat(fd, &st)) {
		if (!S_ISDIR(st.st_mode))
			return fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ? 1 : CLI_GO_ON;
		what = "EISDIR: illegal operation on a directory, read";
	}
	snprintf(text, sizeof(text),
		 "--control-fd %d is not usable: %s. Refusing to run the command without the "
		 "control channel it asks for.",
		 fd, what);
	return fail_text(s, text);
}

static int check_pass_fds(const struct speaker *s)
{
	char text[128];

	for (size_t i = 0; i < s->args->n_pass_fds; i++) {
		int fd = s->args->pass_fds[i];

		if (fcntl(fd, F_GETFD) >= 0 && fd != s->args->control_fd)
			continue;
		snprintf(text, sizeof(text), "--pass-fd %d: %s", fd,
			 fd == s->args->control_fd ? "is the control channel" : "is not open");
		return fail_text(s, text);
	}
	return CLI_GO_ON;
}

static int open_report(struct speaker *s, struct exec_request *request)
{
	const char *path = s->args->violations;
	char text[512];

	s->report = path && !strcmp(path, "-") ? STDERR_FILENO : -1;
	if (!path || s->report >= 0)
		return CLI_GO_ON;
	/* The name may lie where commands write: no link of theirs is followed, no FIFO waited for. */
	s->report = open(path,
			 O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK |
				 (str_starts(path, "/dev/") ? 0 : O_NOFOLLOW),
			 0600);
	request->report = path;
	if (s->report >= 0)
		return CLI_GO_ON;
	snprintf(text, sizeof(text),
		 "--violations %.300s cannot be written (%s). Refusing to run the command without "
		 "the report it asks for.",
		 path, strerrorname_np(errno));
	return fail_text(s, text);
}

/* --- all of it --- */

static int run(struct speaker *s, const struct exec_request *request)
{
	const struct exec_hooks hooks = {
		.on_warning = on_warning,
		.on_weaker = on_weaker,
		.on_denied = on_denied,
		.on_line = on_line,
		.on_settings = on_settings,
		.on_debug = on_debug,
		.ctx = s,
	};
	_cleanup_str_ struct str why = { 0 };
	struct err err = { 0 };
	struct exec x;
	int status = 0, r = exec_prepare(&x, request, &hooks, &why, &err);

	if (r == 0 && s->args->plan) {
		(s->args->json ? plan_print_json : plan_print)(&x.plan, stdout);
	} else if (r == 0) {
		s->place = exec_fix_place(&x);
		r = exec_run(&x, &status, &err);
		snprintf(s->denials.log, sizeof(s->denials.log), "%s", x.logged ? x.id : "");
	}
	if (r < 0)
		status = why.len ? fail_settings(s, why.s) : fail(s, &err);
	for (size_t i = 0; i < x.config.unused.len && s->debug; i++) {
		char text[128];

		snprintf(text, sizeof(text), "%s: accepted, with nothing to do for it here",
			 x.config.unused.v[i]);
		on_debug(s, text);
	}
	exec_release(&x);
	return status;
}

static int choose_settings(const struct speaker *s, struct arena *arena, struct claude_where *where,
			   struct exec_request *request)
{
	struct err err = { 0 };
	bool use = false;

	if (exec_choose(s->args, arena, where, &use, &err) < 0)
		return fail(s, &err);
	if (use)
		request->claude = where;
	return CLI_GO_ON;
}

/* Claude Code says so to what its tools start; what they print is read by the model. */
static bool is_agent(void)
{
	const char *value = getenv("CLAUDECODE");

	return value && !strcmp(value, "1");
}

int exec_main(const struct exec_args *args)
{
	const char *debug = getenv("SRT_DEBUG");
	struct speaker s = { .args = args, .report = -1 };
	struct exec_request request = { .settings = args->settings,
					.control_fd = args->control_fd,
					.pass_fds = (int *)args->pass_fds,
					.n_pass_fds = args->n_pass_fds };
	struct claude_where where;
	struct arena arena = { 0 };
	int status;

	s.debug = args->debug || (debug && *debug);
	request.debug = s.debug;
	request.watch_reads = args->watch;
	s.annotate = args->annotate || is_agent();
	if (!(args->string && *args->string) && (!args->words || !args->words[0]))
		return fail_text(&s, args->srt
					     ? "No command specified. Use -c <command> or provide "
					       "command arguments."
					     : "no command: give one after '--', or with -c");
	status = check_control(&s);
	if (status == CLI_GO_ON)
		status = check_pass_fds(&s);
	if (status == CLI_GO_ON)
		status = open_report(&s, &request);
	if (status == CLI_GO_ON) {
		request.spare = args->plan ? NULL : exec_begin(0);
		exec_choose_argv(
			&arena,
			&(struct exec_line){ args->string, args->words, args->srt, args->dashed },
			&request);
		status = choose_settings(&s, &arena, &where, &request);
		if (status != CLI_GO_ON)
			native_spare_free(request.spare);
	}
	if (status == CLI_GO_ON) {
		status = run(&s, &request);
		tell_denials(&s);
		if (args->json && !args->plan) {
			char text[64];

			snprintf(text, sizeof(text), "{\"type\":\"exit\",\"status\":%d}", status);
			say_line(text);
		}
	}
	if (s.report > STDERR_FILENO)
		close(s.report);
	arena_release(&arena);
	return status;
}

static int set_fd(void *ctx, const struct opt *opt, const char *value, struct err *err)
{
	struct exec_args *args = ctx;
	int fd = exec_parse_fd(value);

	if (fd < 0)
		return err_usage(err, "--%s: '%s' is not a descriptor of at least 3", opt->name,
				 value);
	if (!strcmp(opt->name, "control-fd"))
		args->control_fd = fd;
	else if (args->n_pass_fds == ARRAY_LEN(args->pass_fds))
		return err_usage(err, "--pass-fd: more than %d", EXEC_PASS_MAX);
	else
		args->pass_fds[args->n_pass_fds++] = fd;
	return 0;
}

static int cmd_exec(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct exec_args args = { .control_fd = -1 };
	struct arena arena = { 0 };
	struct err err = { 0 };
	int status = cli_parse(argc, argv, &args, &rest);

	if (status != CLI_GO_ON)
		return status;
	args.words = rest.command;
	args.dashed = true;
	if (args.encoded && args.string)
		args.string = exec_decode(&arena, args.string);
	if (args.encoded && !args.string) {
		err_usage(&err,
			  "--encoded: -c STRING with %%XX for some bytes is missing or wrong");
		status = cli_fail(&err);
	} else {
		status = args.server ? exec_server(&args) : exec_main(&args);
	}
	arena_release(&arena);
	return status;
}

static const char *const *exec_report_words(const char *name)
{
	static const char *const words[] = { "reads", NULL };

	(void)name;
	return words;
}

#define STRING(field) .kind = OPT_STRING, .offset = offsetof(struct exec_args, field)

static const struct opt opts[] = {
	{ 's', "settings", "FILE", STRING(settings), .complete = COMPLETE_FILE,
	  .help = "the settings (default: Claude Code's in its projects, else "
		  "~/.srt-settings.json)" },
	{ 0, "settings-from", "claude|srt", STRING(from), .words = exec_from_words,
	  .complete = COMPLETE_WORDS, .help = "whose settings count, wherever this is" },
	{ 0, "project", "DIR", STRING(project), .complete = COMPLETE_DIR,
	  .help = "the root of Claude Code's project (default: looked for from here upwards)" },
	{ 'c', "command", "STRING", STRING(string), .help = "a line for the shell instead of CMD" },
	{ 0, "encoded", FLAG(exec_args, encoded),
	  .help = "STRING has %XX for some bytes; for hooks" },
	{ 0, "control-fd", "FD", .kind = OPT_CALL, .call = set_fd,
	  .help = "read new settings from this descriptor while the command runs, one JSON object "
		  "a "
		  "line" },
	{ 0, "violations", "FILE", STRING(violations), .complete = COMPLETE_FILE,
	  .help = "write what was refused to FILE, or '-' for standard error, one JSON object a "
		  "line" },
	{ 0, "report", "WHAT", STRING(watch), .words = exec_report_words,
	  .complete = COMPLETE_WORDS,
	  .help = "'reads': report every read that is refused, which slows opening files" },
	{ 0, "annotate", FLAG(exec_args, annotate),
	  .help = "append what was refused to standard error, for an agent" },
	{ 0, "pass-fd", "FD", .kind = OPT_CALL, .call = set_fd, .repeat = true,
	  .help = "let the command have this descriptor; repeatable" },
	{ 0, "json", FLAG(exec_args, json),
	  .help = "say errors, warnings, refusals and the exit status as JSON on standard error" },
	{ 0, "server", "SOCKET", STRING(server), .complete = COMPLETE_FILE,
	  .help = "run commands for programs that ask on this UNIX socket; see "
		  "wrapix-protocol(7)" },
	{ 'd', "debug", FLAG(exec_args, debug), .help = "say what is being done" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_exec = {
	.name = "exec",
	.section = SECTION_SANDBOX,
	.usage = "exec [options] [-c STRING | -- CMD...]",
	.summary = "run one command under the settings of sandbox-runtime (srt)",
	.description =
		"Runs CMD at the host's own paths: everything readable but what the settings deny, "
		"the "
		"working directory and what they allow writable, names that others obey protected, "
		"and only the hosts reachable that they list. The settings are those of "
		"sandbox-runtime; 'srt' is another name with its command line.",
	.examples = EXAMPLES("wrapix exec -- npm test", "one command, by ~/.srt-settings.json",
			     "wrapix exec -s strict.json -c 'make && make check'",
			     "a line for the shell, by other settings"),
	.syntax = { opts, .command = true },
	.run = cmd_exec,
};
