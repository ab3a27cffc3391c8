/* SPDX-License-Identifier: MIT */
/* wrapix log: what a session did on the network and what it was refused, while it runs and after. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>

#include "base/str.h"
#include "cli/cli.h"
#include "os/fs.h"
#include "os/watch.h"
#include "session/events.h"

struct log_args {
	bool json, follow, denied;
};

#define PATIENCE_MS 1000 /* between two looks at a session that says nothing */

/* What is to be shown: a log, or a running session that has none yet. */
struct choice {
	const struct session_info *session;
	int64_t started;
	bool has_log;
	bool elsewhere; /* nobody asked for it by name, and it is not of this directory */
};

struct view {
	const struct log_args *args;
	struct event_reader reader;
	bool begun;
};

static bool is_wanted(const struct session_info *session, const char *word, const char *dir)
{
	if (word)
		return !strcmp(session->id, word) || !strcmp(session->name, word);
	return !dir || !strcmp(session->dir, dir);
}

static void consider(struct choice *best, const struct session_info *session, int64_t started,
		     bool has_log)
{
	if (best->session && (!strcmp(best->session->id, session->id) || started < best->started))
		return;
	*best = (struct choice){ session, started, has_log };
}

/* The newest of that name; without a name the newest of this directory, else the newest of all.
 * Sessions that have no log yet count where they were asked for. */
static int choose(struct arena *arena, const char *word, bool follow, struct choice *ret,
		  struct err *err)
{
	char *dir = os_realpath(arena, ".");
	struct event_log_info *logs;
	struct session_info *running;
	size_t n_logs, n_running;
	int r = event_log_list(arena, cli_state_home(arena), &logs, &n_logs, err);

	if (r == 0)
		r = cli_list_sessions(arena, &running, &n_running, err);
	*ret = (struct choice){ 0 };
	for (int pass = 0; r == 0 && pass < 2 && !ret->session; pass++) {
		const char *where = pass == 0 && !word ? dir : NULL;

		for (size_t i = 0; i < n_logs; i++)
			if (is_wanted(&logs[i].session, word, where))
				consider(ret, &logs[i].session, logs[i].started, true);
		for (size_t i = 0; (word || follow) && i < n_running; i++)
			if (is_wanted(&running[i], word, where))
				consider(ret, &running[i], running[i].started * 1000, false);
		ret->elsewhere = pass > 0;
	}
	return r;
}

static bool is_denial(struct json_object *event)
{
	const char *type = json_text(event, "type");

	return type && !strcmp(type, "deny");
}

/* "    by sandbox.filesystem.denyWrite[0], FILE:4" */
static void add_written(struct str *line, struct json_object *event)
{
	const char *key = json_text(event, "key"), *origin = json_text(event, "origin");

	if (!origin)
		return;
	str_add(line, "\n    by ");
	str_add_escaped(line, key ? key : "a rule");
	str_add(line, ", ");
	str_add_escaped(line, origin);
}

/* "    started by make 7, bash 2" */
static void add_parents(struct str *line, struct json_object *event)
{
	struct json_object *process = json_object_object_get(event, "process");
	struct json_object *parents = json_object_object_get(process, "parents");

	if (!json_object_is_type(parents, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(parents); i++) {
		struct json_object *parent = json_object_array_get_idx(parents, i);
		const char *comm = json_text(parent, "comm");

		str_add(line, i ? ", " : "\n    started by ");
		str_add_escaped(line, comm ? comm : "");
		str_addf(line, " %d", json_object_get_int(json_object_object_get(parent, "pid")));
	}
}

/* Who asks for refusals wants to know how they would be none. */
static void add_fix(struct str *line, struct json_object *event)
{
	struct fix fix;

	if (!fix_read(event, &fix))
		return;
	str_add(line, fix.key ? "\n    to allow it: " : "\n    ");
	fix_add_text(line, &fix);
	if (fix.risk) {
		str_add(line, " (careful: ");
		str_add_escaped(line, fix.risk);
		str_add(line, ")");
	}
}

static void print_event(struct view *view, struct json_object *event)
{
	bool header = event_is_header(event);
	_cleanup_str_ struct str line = { 0 };

	if (header && view->begun)
		return; /* the second file's */
	if (view->args->denied && !header && !is_denial(event))
		return;
	if (view->args->json) {
		event_add_json(&line, event);
	} else {
		event_add_text(&line, event);
		if (view->args->denied) {
			add_parents(&line, event);
			add_written(&line, event);
			add_fix(&line, event);
		}
		if (header) {
			str_add(&line, "\n");
			event_add_titles(&line);
		}
	}
	view->begun |= header;
	printf("%s\n", line.s);
}

static void print_all(struct view *view)
{
	struct json_object *event;

	while (event_reader_next(&view->reader, &event) > 0) {
		print_event(view, event);
		json_object_put(event);
	}
	fflush(stdout);
}

/* Until something happens in the directory, or for a moment. */
static void wait_for_change(int watch)
{
	struct pollfd poller = { .fd = watch, .events = POLLIN };

	if (poll(&poller, 1, PATIENCE_MS) > 0)
		os_watch_take(watch);
}

static bool is_running(const char *id)
{
	struct arena arena = { 0 };
	struct session_info *list;
	bool found = false;
	struct err err;
	size_t n = 0;

	if (cli_list_sessions(&arena, &list, &n, &err) < 0)
		n = 0;
	for (size_t i = 0; i < n; i++)
		found |= !strcmp(list[i].id, id);
	arena_release(&arena);
	return found;
}

/* Watches the directory of logs, which a running session without a log may still have to make. */
static int watch_logs(const char *state_home, struct err *err)
{
	char path[PATH_MAX];
	int watch;

	snprintf(path, sizeof(path), "%s/wrapix/log", state_home);
	if (os_mkdirs(path, 0700, err) < 0)
		return -err->code;
	watch = os_watch_dir(path);
	return watch < 0 ? err_errno(err, errno, "watching '%s'", path) : watch;
}

/* 1 when the log is open, 0 when the session has ended without one. */
static int await_log(struct view *view, int dir, int watch, const char *id, struct err *err)
{
	for (;;) {
		bool running = is_running(id);
		int r = event_reader_open(&view->reader, dir, id, err);

		if (r != -ENOENT)
			return r < 0 ? r : 1;
		if (!running)
			return 0;
		wait_for_change(watch);
	}
}

static int follow(struct view *view, const char *state_home, const char *id, struct err *err)
{
	_cleanup_close_ int watch = watch_logs(state_home, err);
	_cleanup_close_ int dir = watch < 0 ? watch : event_log_open_dir(state_home, err);
	int r = dir < 0 ? dir : await_log(view, dir, watch, id, err);

	while (r > 0) {
		/* A file without a head is one that its writer has made and not yet locked. */
		bool more = event_reader_writer(&view->reader) > 0 ||
			    (!view->begun && is_running(id));

		print_all(view);
		if (!more)
			break;
		wait_for_change(watch);
	}
	return MIN(r, 0);
}

static int show(struct view *view, const char *state_home, const char *id, struct err *err)
{
	_cleanup_close_ int dir = event_log_open_dir(state_home, err);
	int r = dir < 0 ? dir : event_reader_open(&view->reader, dir, id, err);

	if (r == 0)
		print_all(view);
	return r;
}

static int print_log(struct view *view, const struct choice *choice, const char *state_home,
		     struct err *err)
{
	const char *id = choice->session->id;
	int r;

	if (choice->elsewhere && !view->args->json)
		fputs("wrapix: no session of this directory has a log; this is the latest of all\n",
		      stderr);
	r = (view->args->follow ? follow : show)(view, state_home, id, err);
	if (r < 0)
		return r;
	if (view->reader.fd >= 0)
		event_reader_finish(&view->reader);
	if (view->reader.bad)
		cli_warn("the log of '%s' is damaged: %llu %s skipped", id,
			 (unsigned long long)view->reader.bad,
			 view->reader.bad == 1 ? "line was" : "lines were");
	return 0;
}

/* Nothing to show is no error, unless a session was named that nobody knows. */
static int say_nothing(const struct choice *choice, const char *word, struct err *err)
{
	if (!choice->session && word) {
		err_usage(err, "there is no session '%s', and no log of one", word);
		return err_hint(err, "'wrapix ps' lists those that run; without a name, 'wrapix "
				     "log' shows the latest");
	}
	fprintf(stderr, "wrapix: %s\n",
		choice->session ? "this session has recorded nothing yet"
				: "no session has recorded anything yet");
	return 0;
}

static int cmd_log(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct log_args args = { 0 };
	struct view view = { .args = &args, .reader = { .dir = -1, .fd = -1 } };
	struct arena arena = { 0 };
	struct choice choice;
	struct err err;
	int r, status = cli_parse(argc, argv, &args, &rest);
	const char *word;

	if (status != CLI_GO_ON)
		return status;
	word = rest.n_operands ? rest.operands[0] : NULL;
	r = choose(&arena, word, args.follow, &choice, &err);
	if (r == 0 && choice.session && (choice.has_log || args.follow))
		r = print_log(&view, &choice, cli_state_home(&arena), &err);
	else if (r == 0)
		r = say_nothing(&choice, word, &err);
	event_reader_close(&view.reader);
	arena_release(&arena);
	return r < 0 ? cli_fail(&err) : 0;
}

static const struct opt opts[] = {
	{ 'f', "follow", FLAG(log_args, follow),
	  .help = "go on with what happens, until the session ends" },
	{ 0, "violations", FLAG(log_args, denied),
	  .help = "only what was refused, and what would allow it" },
	{ 0, "denied", FLAG(log_args, denied), .help = "the same" },
	{ 0, "json", FLAG(log_args, json), .help = "print the events as JSON, one a line" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_log = {
	.name = "log",
	.section = SECTION_SESSIONS,
	.usage = "log [SESSION] [options]",
	.summary = "show what a session did on the network, and what it was refused",
	.description = "Prints the events of a session, running or ended: who talked to whom on a "
		       "filtered network, what was refused and why, files included. SESSION is an "
		       "id or a name; "
		       "without one it is the latest of this directory, else the latest of all.",
	.examples = EXAMPLES("wrapix log", "what the latest session here did",
			     "wrapix log -f --violations site",
			     "what the session 'site' is refused, as it happens"),
	.syntax = { opts, .max = 1, .operand = "SESSION", .complete = COMPLETE_SESSION },
	.run = cmd_log,
};
