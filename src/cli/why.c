/* SPDX-License-Identifier: MIT */
/* wrapix why: would it be allowed, by which rule, and what to write where. */
#include <errno.h>
#include <string.h>

#include "api/api.h"
#include "api/exec.h"
#include "api/why.h"
#include "base/json.h"
#include "base/path.h"
#include "cli/exec.h"
#include "cli/settings.h"
#include "os/fs.h"
#include "os/proc.h"

enum { EXIT_REFUSED = 3 };

struct why_args {
	bool json, run;
	const char *settings, *from;
};

/* --- words --- */

/* What is to go stands where it is; what is to come has a place. */
static void add_place(struct str *out, const struct fix_place *place, const struct why_answer *a)
{
	const char *file = a->fix.remove && a->act.origin ? a->act.origin : place->file;

	if (!file)
		return;
	str_add(out, " in ");
	denial_add_path(out, file, place->home);
}

static void print_answer(const struct why *w, const struct why_answer *a)
{
	_cleanup_str_ struct str out = { 0 };

	denial_add_act(&out, &a->act, w->place.home);
	str_addf(&out, ": %s, %s\n", a->allowed ? "yes" : "no", a->why);
	if (!a->allowed) {
		str_add(&out, a->fix.key ? "  to allow it: " : "  ");
		fix_add_text(&out, &a->fix);
		if (a->fix.key)
			add_place(&out, &w->place, a);
		if (a->fix.risk)
			str_addf(&out, "\n  careful: %s", a->fix.risk);
		str_add(&out, "\n");
	}
	fputs(out.s, stdout);
}

static void add_answer_json(struct str *out, const struct why_answer *a)
{
	str_add(out, "{");
	json_add_member(out, "what", a->act.what);
	if (!strcmp(a->act.what, "call"))
		json_add_member(out, "call", a->act.call);
	json_add_member(out, "path", a->act.path);
	json_add_member(out, "name", a->act.name);
	json_add_member(out, "address", a->act.address);
	if (a->act.port)
		json_add_count(out, "port", a->act.port);
	json_add_key(out, "allowed");
	str_add(out, a->allowed ? "true" : "false");
	json_add_member(out, "reason", a->act.reason);
	json_add_member(out, "rule", a->act.rule);
	json_add_member(out, "key", a->act.key);
	json_add_member(out, "origin", a->act.origin);
	json_add_member(out, "why", a->why);
	if (!a->allowed) {
		json_add_key(out, "fix");
		fix_add_json(out, &a->fix);
	}
	str_add(out, "}");
}

static void print_json(const struct why *w)
{
	_cleanup_str_ struct str out = { 0 };

	str_add(&out, "{");
	json_add_member(&out, "policy", fix_dialect_name(w->place.dialect));
	json_add_member(&out, "settings", w->place.file);
	json_add_key(&out, "answers");
	for (size_t i = 0; i < w->n; i++) {
		str_add(&out, i ? "," : "[");
		add_answer_json(&out, &w->answers[i]);
	}
	printf("%s]}\n", out.s);
}

static int print(const struct why *w, bool json)
{
	bool allowed = true;

	if (json)
		print_json(w);
	for (size_t i = 0; i < w->n; i++) {
		if (!json)
			print_answer(w, &w->answers[i]);
		allowed = allowed && w->answers[i].allowed;
	}
	if (ferror(stdout) || fflush(stdout))
		return EXIT_WRAPIX;
	return allowed ? 0 : EXIT_REFUSED;
}

/* --- questions --- */

/* sandbox-runtime's settings and Claude Code's know no other host without a dot. */
static bool may_be_host(const char *word, enum fix_dialect dialect)
{
	return dialect == FIX_RUN || strpbrk(word, ".:") || !strcmp(word, "localhost");
}

/* A path is what looks like one, or is there; the rest is a host. */
static bool is_path(const char *word, enum fix_dialect dialect)
{
	return word[0] == '.' || strchr(word, '/') || !strcmp(word, "~") ||
	       access(word, F_OK) == 0 || !may_be_host(word, dialect);
}

/* As far as it exists without links; '~' is the home. */
static char *resolve(struct arena *arena, const char *word, const char *home)
{
	bool tilde = word[0] == '~' && (!word[1] || word[1] == '/');
	char *cwd = os_realpath(arena, "."), *path, *dir, *real;

	path = tilde ? path_join(arena, home, word[1] ? word + 2 : ".")
		     : path_join(arena, cwd ? cwd : "/", word);
	for (dir = path; !(real = os_realpath(arena, dir)) && strcmp(dir, "/");)
		dir = path_parent(arena, dir);
	if (!real || !strcmp(dir, path))
		return real ? real : path;
	return path_join(arena, real, path_below(path, dir));
}

/* "mount()" is a system call. */
static char *call_name(struct arena *arena, const char *word)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
	size_t n = strspn(word, letters);

	return n && !strcmp(word + n, "()") ? arena_strndup(arena, word, n) : NULL;
}

static int ask(struct why *w, const struct why_args *args, const char *word)
{
	struct err err = { 0 };

	char *call = call_name(&w->arena, word);

	if (call)
		why_call(w, call);
	else if (is_path(word, w->place.dialect))
		why_path(w, resolve(&w->arena, word, w->place.home));
	else if (why_host(w, word, &err) < 0) {
		err_hint(&err, "a command stands after '--', a file of this directory after './'");
		return cli_fail(&err);
	}
	return print(w, args->json);
}

static int ask_exec(const struct why_args *args, const char *word)
{
	static char name[] = "true";
	const struct exec_args exec = { .settings = args->settings, .from = args->from };
	struct exec_request request = { .settings = args->settings,
					.argv = (char *[]){ name, NULL },
					.command = name,
					.control_fd = -1 };
	_cleanup_str_ struct str why = { 0 };
	const struct exec_hooks hooks = { 0 };
	struct claude_where where;
	struct arena arena = { 0 };
	struct err err = { 0 };
	struct why w = { 0 };
	bool claude = false;
	struct exec x;
	int status;

	if (exec_choose(&exec, &arena, &where, &claude, &err) < 0) {
		arena_release(&arena);
		return cli_fail(&err);
	}
	request.claude = claude ? &where : NULL;
	if (exec_prepare(&x, &request, &hooks, &why, &err) < 0) {
		if (why.len)
			err_usage(&err, "%s", srt_plain(why.s));
		status = cli_fail(&err);
	} else {
		w.plan = &x.plan;
		w.exec = &x;
		w.config = &x.config;
		w.place = exec_fix_place(&x);
		status = ask(&w, args, word);
	}
	why_release(&w);
	exec_release(&x);
	arena_release(&arena);
	return status;
}

static int ask_run(const struct why_args *args, const char *word)
{
	struct wrapix_spec *spec = wrapix_spec_new(".");
	struct wrapix_plan *plan;
	struct wrapix_error error;
	struct why w = { 0 };
	struct err err = { 0 };
	int status;

	if (!spec)
		return EXIT_WRAPIX;
	if (args->from && !strcmp(args->from, "claude") && cli_run_claude(spec, &err) < 0) {
		wrapix_spec_free(spec);
		return cli_fail(&err);
	}
	if (wrapix_plan_make(spec, &plan, &error) < 0) {
		wrapix_spec_free(spec);
		return cli_fail_public(&error);
	}
	w.plan = &plan->plan;
	w.place = (struct fix_place){
		.dialect = FIX_RUN,
		.file = path_join(&w.arena, plan->plan.project, "wrapix.json"),
		.home = plan->host.home,
		.cwd = plan->plan.project,
	};
	if (plan->claude) {
		w.config = run_claude_config(plan->claude);
		w.place.dialect = FIX_CLAUDE;
		w.place.file = plan->claude->policy.local;
		w.place.hosts_lock = plan->claude->policy.hosts_lock;
		w.place.paths_lock = plan->claude->policy.paths_lock;
	}
	status = ask(&w, args, word);
	why_release(&w);
	wrapix_plan_free(plan);
	wrapix_spec_free(spec);
	return status;
}

/* A line for a shell: no host has a blank in its name, and what is here, or begins as one, is a path. */
static bool is_line(const char *word)
{
	return strpbrk(word, " \t\n") && !strchr("/~.", *word) && access(word, F_OK) < 0;
}

/* A program that is found, and no host by its looks: those have a dot or a port. */
static bool is_program(const char *word)
{
	_cleanup_(arena_release) struct arena arena = { NULL };

	return !strpbrk(word, ".:()") && !is_path(word, FIX_RUN) &&
	       os_find_program(&arena, word, getenv("PATH"), NULL);
}

/* Those of sandbox-runtime and of wrapix.json have no rules about commands. */
static int ask_command(const struct why_args *args, const char *line, const char *word)
{
	struct err err = { 0 };

	if (!args->settings && !args->run && (!args->from || strcmp(args->from, "srt") != 0))
		return cli_check(line, args->json);
	err_usage(&err, "'%s' is a command, and these settings have no rules about commands", line);
	if (word && is_program(word))
		err_hint(&err, "a host is '%s.' or '%s:443', a file here './%s'", word, word, word);
	return cli_fail(&err);
}

static int cmd_why(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	_cleanup_str_ struct str words = { 0 };
	struct why_args args = { 0 };
	struct err err = { 0 };
	int status = cli_parse(argc, argv, &args, &rest);

	if (status != CLI_GO_ON)
		return status;
	cli_add_line(&words, rest.command);
	if (!rest.n_operands == !words.s) {
		err_usage(&err, "say one thing: a path, a host, or a command after '--'");
		return cli_fail(&err);
	}
	if (words.s || is_line(rest.operands[0]) || is_program(rest.operands[0]))
		return ask_command(&args, words.s ? words.s : rest.operands[0],
				   words.s ? NULL : rest.operands[0]);
	return (args.run ? ask_run : ask_exec)(&args, rest.operands[0]);
}

#define STRING(field) .kind = OPT_STRING, .offset = offsetof(struct why_args, field)

static const struct opt opts[] = {
	{ 's', "settings", "FILE", STRING(settings), .complete = COMPLETE_FILE,
	  .help = "by these settings (default: those of 'wrapix exec' here)" },
	{ 0, "settings-from", "claude|srt", STRING(from), .words = exec_from_words,
	  .complete = COMPLETE_WORDS, .help = "whose settings count" },
	{ 0, "run", FLAG(why_args, run), .help = "in 'wrapix run' of this directory instead" },
	{ 0, "json", FLAG(why_args, json), .help = "print the answers as JSON" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_why = {
	.name = "why",
	.section = SECTION_SANDBOX,
	.usage = "why [options] PATH|HOST[:PORT]|CALL()|COMMAND | -- CMD...",
	.summary = "say whether something would be allowed, by which rule, and how to change it",
	.description =
		"Asks the rules that 'wrapix exec' would hold a command to here, and runs nothing. "
		"The first of these that fits counts: 'mount()' is a system call; a word with a "
		"'/' in it, or the name of something that is here, is a path; a line with blanks, "
		"and the name of a program on PATH that has no dot and no port, is a command; "
		"others are hosts, but a word without a dot, which only wrapix.json knows as one, "
		"is a path by other settings. To say otherwise: './ls' is a path, '-- ls' a "
		"command, 'ls.' or 'ls:443' a host. A command is held against Claude Code's "
		"permission rules, as 'wrapix check' does.\n"
		"The exit status is 0 when all of it is allowed and 3 when something is not; for a "
		"command it is that of 'wrapix check'.",
	.examples = EXAMPLES("wrapix why ~/.npmrc", "may it be read, and written?",
			     "wrapix why --run example.com:443",
			     "does 'wrapix run' reach it here?"),
	.syntax = { opts, .max = 1, .operand = "PATH|HOST|COMMAND", .complete = COMPLETE_FILE,
		    .command = true },
	.run = cmd_why,
};
