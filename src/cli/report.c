/* SPDX-License-Identifier: MIT */
/* wrapix report: one session on one page. */
#include "cli/report.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "base/path.h"
#include "cli/cli.h"
#include "cli/cow.h"
#include "cli/logs.h"
#include "cow/show.h"
#include "os/fs.h"
#include "session/session.h"

struct report_args {
	bool md, json;
	const char *output;
};

/* --- from the log --- */

static double number(struct json_object *event, const char *key, double unset)
{
	struct json_object *value = json_object_object_get(event, key);
	enum json_type type = json_object_get_type(value);

	return type == json_type_int || type == json_type_double ? json_object_get_double(value)
								 : unset;
}

static int64_t time_of(struct json_object *event, const char *key)
{
	int64_t time = 0;

	if (json_text(event, key))
		(void)event_time_parse(json_text(event, key), &time); /* 0: not known */
	return time;
}

static void add_moment(struct report *r, struct json_object *event, int kind, const char *text)
{
	struct report_moment *m;

	if (r->n_moments == REPORT_MOMENTS) {
		r->more_moments++;
		return;
	}
	m = arena_grow(&r->arena, (void *)&r->moments, &r->n_moments, sizeof(*r->moments));
	*m = (struct report_moment){ .time = time_of(event, "t"),
				     .kind = kind,
				     .text = arena_strdup(&r->arena, text),
				     .count = (unsigned long)MAX(number(event, "count", 1), 1.0) };
}

static struct report_host *find_host(struct report *r, const char *name)
{
	struct report_host *host;

	for (size_t i = 0; i < r->n_hosts; i++)
		if (!strcmp(r->hosts[i].name, name))
			return &r->hosts[i];
	if (r->n_hosts == REPORT_HOSTS)
		return NULL;
	host = arena_grow(&r->arena, (void *)&r->hosts, &r->n_hosts, sizeof(*r->hosts));
	*host = (struct report_host){ .name = arena_strdup(&r->arena, name) };
	return host;
}

static void add_endpoint(struct str *out, struct json_object *event)
{
	const char *name = json_text(event, "name"), *address = json_text(event, "address");

	str_add_escaped(out, name ? name : address ? address : "");
	str_addf(out, ":%.0f", number(event, "port", 0));
}

static void add_traffic(struct report *r, struct json_object *event, const char *endpoint)
{
	struct report_host *host = find_host(r, endpoint);
	int64_t end = time_of(event, "t");

	if (host) {
		int64_t begin = end - (int64_t)(number(event, "seconds", 0) * 1000);

		host->connections++;
		host->sent += MAX(number(event, "sent", 0), 0.0);
		host->received += MAX(number(event, "received", 0), 0.0);
		host->seconds += MAX(number(event, "seconds", 0), 0.0);
		host->first = host->first && host->first < begin ? host->first : begin;
		host->last = MAX(host->last, end);
	}
}

static void add_ended(struct report *r, struct json_object *event)
{
	_cleanup_str_ struct str text = { 0 };

	add_endpoint(&text, event);
	add_traffic(r, event, text.s);
	add_moment(r, event, MOMENT_CONNECTION, text.s);
}

static void add_denied(struct report *r, struct json_object *event)
{
	_cleanup_str_ struct str text = { 0 };
	struct denial denial;

	if (!denial_read(event, &denial))
		return;
	if (number(event, "seconds", 0) > 0) { /* it was there until a new rule ended it */
		add_endpoint(&text, event);
		add_traffic(r, event, text.s);
		text.len = 0;
	}
	denial_add_act(&text, &denial, r->lessons.place.home);
	str_add(&text, ": ");
	denial_add_why(&text, &denial);
	if (!strcmp(denial.what, "limit"))
		strv_add(&r->arena, &r->limits, text.s);
	add_moment(r, event, MOMENT_DENIED, text.s);
}

static void add_sentence(struct report *r, struct json_object *event, int kind, const char *label)
{
	const char *words = json_text(event, kind == MOMENT_RULE ? "rule" : "text");
	_cleanup_str_ struct str text = { 0 };

	str_add(&text, label);
	if (kind == MOMENT_RULE) {
		str_add_escaped(&text,
				json_text(event, "effect") ? json_text(event, "effect") : "");
		str_add(&text, " ");
	}
	str_add_escaped(&text, words ? words : "");
	if (kind == MOMENT_LIMIT)
		strv_add(&r->arena, &r->limits, text.s);
	add_moment(r, event, kind, text.s);
}

static void add_event(struct report *r, struct json_object *event)
{
	const char *type = json_text(event, "type") ?: "";

	if (!strcmp(type, "connection")) {
		add_ended(r, event);
	} else if (!strcmp(type, "deny")) {
		add_denied(r, event);
	} else if (!strcmp(type, "limit")) {
		add_sentence(r, event, MOMENT_LIMIT, "");
	} else if (!strcmp(type, "rule")) {
		add_sentence(r, event, MOMENT_RULE, "from now on: ");
	} else if (!strcmp(type, "settings")) {
		_cleanup_str_ struct str text = { 0 };

		event_add_change(&text, event);
		add_moment(r, event, MOMENT_RULE, text.s);
	} else if (!strcmp(type, "truncated")) {
		r->lost += (unsigned long)MAX(number(event, "lost", 0), 0.0);
	} else if (!strcmp(type, "exit")) {
		r->ended = time_of(event, "t");
		r->status = (int)number(event, "status", -1);
		r->cpu = number(event, "cpu", -1);
		r->memory = number(event, "memory", -1);
		r->peak_memory = number(event, "peakMemory", -1);
		r->peak_processes = number(event, "peakProcesses", -1);
	} else {
		_cleanup_str_ struct str text = { 0 };

		if (json_text(event, "text"))
			str_addf(&text, "%s: ", type);
		str_add_escaped(&text, json_text(event, "text") ? json_text(event, "text") : type);
		add_moment(r, event, MOMENT_OTHER, text.s);
	}
}

static void on_event(void *ctx, struct json_object *event)
{
	struct report *r = ctx;

	lessons_add(&r->lessons, event);
	if (!event_is_header(event)) {
		add_event(r, event);
		return;
	}
	r->started = time_of(event, "started");
	if (!r->network)
		r->network = arena_strdup(
			&r->arena, json_text(event, "network") ? json_text(event, "network") : "");
}

static int by_time(const void *a, const void *b)
{
	const struct report_moment *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

static int by_bytes(const void *a, const void *b)
{
	const struct report_host *x = a, *y = b;
	double d = (y->sent + y->received) - (x->sent + x->received);

	return d < 0 ? -1 : d > 0;
}

/* --- from the copy-on-write session --- */

static void add_change(struct report *r, const struct cow *cow, const struct changes *changes,
		       size_t i, size_t *room)
{
	const struct change *change = &changes->v[i];
	_cleanup_str_ struct str diff = { 0 }, shown = { 0 }, name = { 0 };
	struct report_change *c;

	if (change_is_implied(changes, i))
		return;
	c = arena_grow(&r->arena, (void *)&r->changes, &r->n_changes, sizeof(*r->changes));
	str_add_escaped(&name, change->path);
	*c = (struct report_change){ .status = (char)change->status,
				     .path = arena_strdup(&r->arena, name.s ? name.s : "") };
	if (change->status == CHANGE_IGNORED || !*room)
		return;
	change_add_diff(&diff, cow, change);
	if (!diff.len || diff.len > *room)
		return;
	*room -= diff.len;
	str_add_visible(&shown, diff.s, diff.len);
	c->diff = arena_strdup(&r->arena, shown.s);
}

/* What it changed, where that is kept; nothing where it is not. */
static void add_changes(struct report *r, const char *id)
{
	struct arena arena = { 0 };
	struct cow cow = COW_NONE;
	struct changes changes = { .n = 0 };
	const struct cow_info *info = NULL;
	size_t n = 0, room = REPORT_DIFF_MAX;
	struct cow_info *list;
	struct err err;

	if (id && cli_cow_list(&arena, &list, &n, &err) == 0)
		info = cow_find(list, n, id);
	if (info && !strcmp(info->id, id) && cow_open(&cow, info->base, info->id, &err) == 0 &&
	    cow_open_project(&cow, &err) == 0 && changes_find(&changes, &cow, &err) == 0) {
		r->is_cow = true;
		for (size_t i = 0; i < changes.n; i++)
			add_change(r, &cow, &changes, i, &room);
		changes_release(&changes);
	}
	cow_close(&cow);
	arena_release(&arena);
}

/* --- numbers --- */

void report_add_time(struct str *out, int64_t milliseconds)
{
	time_t seconds = (time_t)(milliseconds / 1000);
	struct tm tm;

	if (!localtime_r(&seconds, &tm))
		memset(&tm, 0, sizeof(tm));
	str_addf(out, "%04d-%02d-%02d %02d:%02d:%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
		 tm.tm_hour, tm.tm_min, tm.tm_sec);
}

void report_add_seconds(struct str *out, double seconds)
{
	if (seconds >= 120)
		str_addf(out, "%.0f min", seconds / 60);
	else
		str_addf(out, seconds < 10 ? "%.1f s" : "%.0f s", seconds);
}

void report_add_bytes(struct str *out, double bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	size_t unit = 0;

	for (; bytes >= 1024 && unit + 1 < ARRAY_LEN(units); unit++)
		bytes /= 1024;
	str_addf(out, unit && bytes < 100 ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}

/* --- all of it --- */

static void describe(struct report *r, const char *id, const char *name, const char *dir,
		     const char *command, int64_t started)
{
	struct lessons *l = &r->lessons;

	l->id = arena_strdup(&l->arena, id);
	l->name = arena_strdup(&l->arena, name);
	l->dir = arena_strdup(&l->arena, dir);
	l->command = command ? arena_strdup(&l->arena, command) : NULL;
	r->started = started * 1000;
}

/* A session in which nothing happened has no log, but it may run, or its changes may be kept. */
static bool find_without_log(struct report *r, const char *word)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	const struct session_info *running;
	const struct cow_info *kept = NULL;
	struct session_info *sessions;
	struct cow_info *list;
	struct err ignored;
	size_t n;

	if (!word)
		return false;
	running = cli_list_sessions(&arena, &sessions, &n, &ignored) < 0
			  ? NULL
			  : cli_pick_session(sessions, n, word, &ignored);
	if (running) {
		describe(r, running->id, running->name, running->dir, running->command,
			 running->started);
		r->network = arena_strdup(&r->arena, running->network);
		return true;
	}
	if (cli_cow_list(&arena, &list, &n, &ignored) == 0)
		kept = cow_find(list, n, word);
	if (kept)
		describe(r, kept->id, kept->name, kept->project, NULL, kept->started);
	return kept != NULL;
}

static int gather(struct report *r, const char *word, const char *home, struct err *err)
{
	int k;

	*r = (struct report){
		.status = -1, .cpu = -1, .memory = -1, .peak_memory = -1, .peak_processes = -1
	};
	lessons_init(&r->lessons, home);
	k = cli_read_log(word, on_event, r, err);
	if (k < 0 && (k != -ENOENT || !find_without_log(r, word)))
		return k;
	lessons_merge(&r->lessons);
	if (r->n_moments)
		qsort(r->moments, r->n_moments, sizeof(*r->moments), by_time);
	if (r->n_hosts)
		qsort(r->hosts, r->n_hosts, sizeof(*r->hosts), by_bytes);
	add_changes(r, r->lessons.id);
	return 0;
}

static int write_out(const struct str *text, const char *path, struct err *err)
{
	_cleanup_close_ int dir = -1;

	if (!path || !strcmp(path, "-")) {
		if (fwrite(text->s, 1, text->len, stdout) == text->len && !fflush(stdout))
			return 0;
		err_errno(err, errno, "writing to standard output");
		clearerr(stdout); /* it is told */
		return -err->code;
	}
	dir = os_open_given(path);
	return dir < 0 ? err_errno(err, -dir, "opening the directory of '%s'", path)
		       : os_write_file_atomic(dir, path_name(path), text->s, text->len, 0600, err);
}

static int cmd_report(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	_cleanup_str_ struct str out = { 0 };
	struct report_args args = { 0 };
	const char *home = getenv("HOME");
	struct arena arena = { 0 };
	struct report report;
	struct err err = { 0 };
	int r, status = cli_parse(argc, argv, &args, &rest);

	if (status != CLI_GO_ON)
		return status;
	r = gather(&report, rest.n_operands ? rest.operands[0] : NULL,
		   home ? os_realpath(&arena, home) : NULL, &err);
	if (r == 0) {
		(args.json ? report_add_json
		 : args.md ? report_add_markdown
			   : report_add_html)(&out, &report);
		r = write_out(&out, args.output, &err);
	}
	lessons_release(&report.lessons);
	arena_release(&report.arena);
	arena_release(&arena);
	return r < 0 ? cli_fail(&err) : 0;
}

static const struct opt opts[] = {
	{ 'o', "output", "FILE", .kind = OPT_STRING, .offset = offsetof(struct report_args, output),
	  .complete = COMPLETE_FILE, .help = "write it to FILE instead of standard output" },
	{ 0, "md", FLAG(report_args, md), .help = "as Markdown instead of HTML" },
	{ 0, "json", FLAG(report_args, json), .help = "as JSON" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_report = {
	.name = "report",
	.section = SECTION_SESSIONS,
	.usage = "report [SESSION] [options]",
	.summary = "write one page about a session: what it did, changed and was refused",
	.description =
		"Makes a page of HTML of the log of a session, by its id or name; without one it "
		"is the latest of this directory. It has a timeline, the changes of a "
		"copy-on-write session, the hosts with bytes and times, what was refused and what "
		"would allow it, limits and peaks. The page needs no network and holds no program.",
	.examples = EXAMPLES("wrapix report -o report.html",
			     "the latest session here, for a browser", "wrapix report site --md",
			     "the session 'site', as text"),
	.syntax = { opts, .max = 1, .operand = "SESSION", .complete = COMPLETE_SESSION },
	.run = cmd_report,
};
