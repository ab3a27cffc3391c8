/* SPDX-License-Identifier: MIT */
/* A report as Markdown, and as JSON. Hostile text stays text in both. */
#include <string.h>

#include "base/json.h"
#include "cli/report.h"

/* --- Markdown --- */

/* As code, whatever is in it: the fence is longer than any run of backticks. */
static void add_code(struct str *out, const char *text)
{
	size_t longest = 0, run = 0;

	for (const char *p = text; *p; p++) {
		run = *p == '`' ? run + 1 : 0;
		longest = MAX(longest, run);
	}
	for (size_t i = 0; i <= longest; i++)
		str_add(out, "`");
	str_addf(out, longest ? " %s " : "%s", text);
	for (size_t i = 0; i <= longest; i++)
		str_add(out, "`");
}

static void add_code_raw(struct str *out, const char *text)
{
	_cleanup_str_ struct str escaped = { 0 };

	str_add_escaped(&escaped, text && *text ? text : "-");
	add_code(out, escaped.s);
}

/* It is quoted for a shell, which reads its backslashes. */
static void add_command(struct str *out, const char *line)
{
	_cleanup_str_ struct str seen = { 0 };

	str_add_quoted(&seen, line && *line ? line : "-");
	add_code(out, seen.s);
}

static void add_needs(struct str *out, const struct strv *lines, const char *title)
{
	for (size_t i = 0; i < lines->len; i++) {
		str_add(out, i ? ", " : title);
		add_command(out, lines->v[i]);
	}
}

static void add_lesson(struct str *out, const struct report *r, const struct lesson *lesson)
{
	_cleanup_str_ struct str act = { 0 }, fix = { 0 };

	denial_add_act(&act, &lesson->denial, r->lessons.place.home);
	str_add(&act, ": ");
	denial_add_why(&act, &lesson->denial);
	fix_add_text(&fix, &lesson->fix);
	str_add(out, "- ");
	add_code(out, act.s);
	if (lesson->count > 1)
		str_addf(out, " (%lu times)", lesson->count);
	str_add(out, lesson->fix.key ? "  \n  to allow it: " : "  \n  ");
	add_code(out, fix.s);
	if (lesson->fix.risk) {
		str_add(out, "; careful: ");
		add_code_raw(out, lesson->fix.risk);
	}
	add_needs(out, &lesson->commands, "  \n  needed by ");
	add_needs(out, &lesson->likely, "  \n  likely needed by ");
	str_add(out, "\n");
}

static void add_hosts(struct str *out, const struct report *r)
{
	str_add(out, "\n## Whom it talked to\n\n");
	for (size_t i = 0; i < r->n_hosts; i++) {
		const struct report_host *host = &r->hosts[i];

		str_add(out, "- ");
		add_code(out, host->name);
		str_addf(out, ": %lu connection%s, ", host->connections,
			 host->connections == 1 ? "" : "s");
		report_add_bytes(out, host->sent);
		str_add(out, " sent, ");
		report_add_bytes(out, host->received);
		str_add(out, " received, open for ");
		report_add_seconds(out, host->seconds);
		str_add(out, "\n");
	}
	str_add(out, r->n_hosts ? "" : "Nobody that was seen.\n");
}

static void add_timeline(struct str *out, const struct report *r)
{
	str_add(out, "\n## Timeline\n\n");
	for (size_t i = 0; i < r->n_moments; i++) {
		const struct report_moment *m = &r->moments[i];

		str_addf(out, "- +%.1f s ", (double)MAX(m->time - r->started, (int64_t)0) / 1000);
		str_add(out, m->kind == MOMENT_DENIED ? "refused: " : "");
		add_code(out, m->text);
		if (m->count > 1)
			str_addf(out, " (%lu times)", m->count);
		str_add(out, "\n");
	}
	if (r->more_moments)
		str_addf(out, "- and %lu more\n", r->more_moments);
}

static void add_peaks(struct str *out, const struct report *r)
{
	if (r->memory >= 0) {
		str_add(out, ", largest process ");
		report_add_bytes(out, r->memory);
	}
	if (r->peak_memory >= 0) {
		str_add(out, ", most memory at once ");
		report_add_bytes(out, r->peak_memory);
	}
	if (r->peak_processes >= 0)
		str_addf(out, ", most processes at once %.0f", r->peak_processes);
	if (r->cpu >= 0) {
		str_add(out, ", processor time ");
		report_add_seconds(out, r->cpu);
	}
}

void report_add_markdown(struct str *out, const struct report *r)
{
	str_add(out, "# Session ");
	add_code_raw(out, r->lessons.id);
	str_add(out, "\n\n");
	add_command(out, r->lessons.command);
	str_add(out, " in ");
	add_code_raw(out, r->lessons.dir);
	str_add(out, "  \nbegan ");
	report_add_time(out, r->started);
	if (r->ended) {
		str_add(out, ", took ");
		report_add_seconds(out, (double)(r->ended - r->started) / 1000);
		str_addf(out, ", ended with status %d", r->status);
	}
	add_peaks(out, r);
	str_addf(out, "\n\n## What was refused (%lu time%s)\n\n", r->lessons.refused,
		 r->lessons.refused == 1 ? "" : "s");
	for (size_t i = 0; i < r->lessons.n; i++)
		if (!r->lessons.v[i].dropped)
			add_lesson(out, r, &r->lessons.v[i]);
	str_add(out, r->lessons.n ? "" : "Nothing.\n");
	add_hosts(out, r);
	if (r->is_cow)
		str_addf(out,
			 "\n## What it changed\n\n`wrapix diff %s` shows it, `wrapix review %s` "
			 "takes it over.\n\n",
			 r->lessons.id, r->lessons.id);
	for (size_t i = 0; i < r->n_changes; i++) {
		str_addf(out, "- %c ", r->changes[i].status);
		add_code(out, r->changes[i].path);
		str_add(out, "\n");
	}
	if (r->limits.len)
		str_add(out, "\n## Limits\n\n");
	for (size_t i = 0; i < r->limits.len; i++)
		str_addf(out, "- %s\n", r->limits.v[i]);
	add_timeline(out, r);
}

/* --- JSON --- */

static void add_time(struct str *out, const char *key, int64_t time)
{
	if (time)
		json_add_count(out, key, (uint64_t)MAX(time, (int64_t)0));
}

static void add_number(struct str *out, const char *key, double value)
{
	uint64_t thousandths = (uint64_t)(MAX(value, 0.0) * 1000 + 0.5);

	json_add_key(out, key);
	str_addf(out, "%llu.%03llu", (unsigned long long)(thousandths / 1000),
		 (unsigned long long)(thousandths % 1000));
}

static void add_json_lesson(struct str *out, const struct lesson *lesson)
{
	_cleanup_str_ struct str why = { 0 };

	denial_add_why(&why, &lesson->denial);
	str_add(out, "{");
	json_add_member(out, "what", lesson->denial.what);
	json_add_member(out, "path", lesson->denial.path);
	json_add_member(out, "name", lesson->denial.name);
	json_add_member(out, "address", lesson->denial.address);
	json_add_member(out, "why", why.s);
	json_add_count(out, "count", lesson->count);
	json_add_key(out, "fix");
	fix_add_json(out, &lesson->fix);
	json_add_key(out, "commands");
	json_add_strings(out, &lesson->commands);
	json_add_key(out, "likely");
	json_add_strings(out, &lesson->likely);
	str_add(out, "}");
}

static void add_json_host(struct str *out, const struct report_host *host)
{
	str_add(out, "{");
	json_add_member(out, "host", host->name);
	json_add_count(out, "connections", host->connections);
	json_add_count(out, "sent", (uint64_t)host->sent);
	json_add_count(out, "received", (uint64_t)host->received);
	add_number(out, "seconds", host->seconds);
	add_time(out, "first", host->first);
	add_time(out, "last", host->last);
	str_add(out, "}");
}

static void add_json_facts(struct str *out, const struct report *r)
{
	json_add_member(out, "session", r->lessons.id);
	json_add_member(out, "name", r->lessons.name);
	json_add_member(out, "dir", r->lessons.dir);
	json_add_member(out, "command", r->lessons.command);
	json_add_member(out, "network", r->network);
	json_add_member(out, "policy", fix_dialect_name(r->lessons.place.dialect));
	json_add_member(out, "settings", r->lessons.place.file);
	add_time(out, "started", r->started);
	add_time(out, "ended", r->ended);
	if (r->status >= 0)
		json_add_count(out, "status", (uint64_t)r->status);
	if (r->cpu >= 0)
		add_number(out, "cpu", r->cpu);
	if (r->memory >= 0)
		json_add_count(out, "memory", (uint64_t)r->memory);
	if (r->peak_memory >= 0)
		json_add_count(out, "peakMemory", (uint64_t)r->peak_memory);
	if (r->peak_processes >= 0)
		json_add_count(out, "peakProcesses", (uint64_t)r->peak_processes);
	json_add_count(out, "lost", r->lost);
	json_add_count(out, "refused", r->lessons.refused);
}

void report_add_json(struct str *out, const struct report *r)
{
	const char *comma = "";

	str_add(out, "{");
	add_json_facts(out, r);
	str_add(out, ",\"denials\":[");
	for (size_t i = 0; i < r->lessons.n; i++) {
		if (r->lessons.v[i].dropped)
			continue;
		str_add(out, comma);
		add_json_lesson(out, &r->lessons.v[i]);
		comma = ",";
	}
	str_add(out, "],\"hosts\":[");
	for (size_t i = 0; i < r->n_hosts; i++) {
		str_add(out, i ? "," : "");
		add_json_host(out, &r->hosts[i]);
	}
	str_add(out, "],\"limits\":[");
	for (size_t i = 0; i < r->limits.len; i++) {
		str_add(out, i ? "," : "");
		json_add_string(out, r->limits.v[i]);
	}
	str_add(out, "],\"changes\":[");
	for (size_t i = 0; i < r->n_changes; i++) {
		str_addf(out, "%s{\"status\":\"%c\",\"path\":", i ? "," : "", r->changes[i].status);
		json_add_string(out, r->changes[i].path);
		str_add(out, "}");
	}
	str_add(out, "]}\n");
}
