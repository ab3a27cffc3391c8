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
#include "base/path.h"
#include "cli/exec_say.h"
#include "os/fs.h"
#include "os/stdio.h"
#include "plan/seatbelt.h"
#include "spec/claude.h"

int exec_parse_fd(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	if (!digits || digits > 7 || text[digits])
		return -1;
	return strtol(text, NULL, 10) >= 3 ? (int)strtol(text, NULL, 10) : -1;
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
	return speaker_fail_text(s, text);
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
		return speaker_fail_text(s, text);
	}
	return CLI_GO_ON;
}

/* The name may lie where commands write: no link of theirs is followed, no FIFO waited for. */
static int open_to_append(const char *path)
{
	const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	_cleanup_close_ int dir = -1;

	if (str_starts(path, "/dev/"))
		return open(path, flags, 0600);
	dir = os_open_given(path);
	if (dir >= 0)
		return openat(dir, path_name(path), flags | O_NOFOLLOW, 0600);
	errno = -dir;
	return -1;
}

static int open_report(struct speaker *s, struct exec_request *request)
{
	const char *path = s->args->violations;
	char text[512];

	s->report = path && !strcmp(path, "-") ? STDERR_FILENO : -1;
	if (!path || s->report >= 0)
		return CLI_GO_ON;
	s->report = open_to_append(path);
	request->report = path;
	if (s->report >= 0)
		return CLI_GO_ON;
	snprintf(text, sizeof(text),
		 "--violations %.300s cannot be written (%s). Refusing to run the command without "
		 "the report it asks for.",
		 path, err_name(errno) ?: "EIO");
	return speaker_fail_text(s, text);
}

/* --- all of it --- */

static void on_denied(void *ctx, const struct denial *denial, const char *line)
{
	struct speaker *s = ctx;
	_cleanup_str_ struct str text = { 0 }, change = { 0 };
	bool again;

	if (speaker_counts(s, line, &again))
		return;
	exec_explain(s->exec, denial, &text, &change);
	speaker_denied(s, again, line, text.s, change.len ? change.s : NULL);
}

/* As on macOS, where the filter's port and the temporary directory are known when it starts. */
static int print_seatbelt(const struct exec *x, bool json, struct err *err)
{
	_cleanup_str_ struct str text = { 0 }, out = { 0 };
	int r = seatbelt_add(&text,
			     &(struct seatbelt){ .exec = &x->exec_spec,
						 .tag = "wrapix",
						 .tmpdir = "/private/tmp/wrapix",
						 .proxy_port = 4777 },
			     err);

	if (r < 0)
		return r;
	if (json) {
		str_add(&out, "{\"engine\":\"seatbelt\",\"profile\":");
		json_add_string(&out, text.s);
		str_add(&out, "}\n");
	}
	fputs(json ? out.s : text.s, stdout);
	return 0;
}

static int run(struct speaker *s, const struct exec_request *request)
{
	const struct exec_hooks hooks = {
		.on_warning = speaker_warning,
		.on_unlogged = speaker_unlogged,
		.on_weaker = speaker_weaker,
		.on_denied = on_denied,
		.on_line = speaker_event,
		.on_settings = speaker_settings,
		.on_debug = speaker_debug,
		.on_unused = speaker_unused,
		.ctx = s,
	};
	_cleanup_str_ struct str why = { 0 };
	struct err err = { 0 };
	static struct exec x; /* the speaker knows it */
	int status = 0, r = exec_prepare(&x, request, &hooks, &why, &err);

	if (r == 0 && s->args->plan && (s->args->seatbelt || x.plan.engine == ENGINE_SEATBELT)) {
		r = print_seatbelt(&x, s->args->json, &err);
	} else if (r == 0 && s->args->plan) {
		(s->args->json ? plan_print_json : plan_print)(&x.plan, stdout);
	} else if (r == 0) {
		s->exec = &x;
		r = exec_run(&x, &status, &err);
		snprintf(s->denials.log, sizeof(s->denials.log), "%s", x.logged ? x.id : "");
	}
	if (r < 0)
		status = why.len ? speaker_fail_settings(s, why.s) : speaker_fail(s, &err);
	exec_release(&x);
	return status;
}

static int choose_settings(const struct speaker *s, struct arena *arena, struct claude_where *where,
			   struct exec_request *request)
{
	struct err err = { 0 };
	bool use = false;

	if (exec_choose(s->args, arena, where, &use, &err) < 0)
		return speaker_fail(s, &err);
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

/* To its end; with a door, by whoever is behind it. */
static int execute(struct speaker *s, const struct exec_request *request, int door)
{
	struct os_stdio noted;
	char text[64];
	int status;

	os_stdio_note(&noted);
	status = door < 0 ? run(s, request) : exec_inside(s, request, door);
	os_stdio_restore(&noted);
	speaker_end(s);
	snprintf(text, sizeof(text), "{\"type\":\"exit\",\"status\":%d}", status);
	if (s->args->json && !s->args->plan)
		speaker_line(text);
	return status;
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
	int status, door = -1;

	s.debug = args->debug || (debug && *debug);
	request.debug = s.debug;
	request.unseen_reads = args->report && !strcmp(args->report, "changes");
	s.annotate = args->annotate || is_agent();
	if (!(args->string && *args->string) && (!args->words || !args->words[0]))
		return speaker_fail_text(
			&s, args->srt ? "No command specified. Use -c <command> or provide "
					"command arguments."
				      : "no command: give one after '--', or with -c");
	if (!args->srt && args->string &&
	    args->words) /* srt takes the string, and drops the words */
		return speaker_fail_text(&s, "two commands: give one, after '--' or with -c");
	status = check_control(&s);
	if (status == CLI_GO_ON)
		status = check_pass_fds(&s);
	if (status == CLI_GO_ON)
		status = open_report(&s, &request);
	if (status == CLI_GO_ON) {
		door = args->plan ? -1 : exec_knock();
		request.spare = args->plan || door >= 0 ? NULL : exec_begin(0, true, false);
		exec_choose_argv(
			&arena,
			&(struct exec_line){ args->string, args->words, args->srt, args->dashed },
			&request);
		status = choose_settings(&s, &arena, &where, &request);
		if (status != CLI_GO_ON)
			native_spare_free(request.spare);
	}
	if (status == CLI_GO_ON)
		status = execute(&s, &request, door);
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
	static const char *const words[] = { "reads", "changes", NULL };

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
		  "a line" },
	{ 0, "violations", "FILE", STRING(violations), .complete = COMPLETE_FILE,
	  .help = "write what was refused to FILE, or '-' for standard error, one JSON object a "
		  "line" },
	{ 0, "report", "WHAT", STRING(report), .words = exec_report_words,
	  .complete = COMPLETE_WORDS,
	  .help = "'reads' (default): also every read that a rule refuses; 'changes': not where "
		  "that slows opening "
		  "files" },
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
		"the working directory and what they allow writable, names that others obey "
		"protected, and only the hosts reachable that they list. The settings are those of "
		"sandbox-runtime; 'srt' is another name with its command line.",
	.examples = EXAMPLES("wrapix exec -- npm test", "one command, by ~/.srt-settings.json",
			     "wrapix exec -s strict.json -c 'make && make check'",
			     "a line for the shell, by other settings"),
	.syntax = { opts, .command = true },
	.run = cmd_exec,
};
