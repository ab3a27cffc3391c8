/* SPDX-License-Identifier: MIT */
/* One session as a report: what report.c gathers and report_html.c, report_text.c write. */
#pragma once

#include "base/str.h"
#include "session/lessons.h"

enum {
	REPORT_MOMENTS = 2000, /* lines of the timeline */
	REPORT_HOSTS = 1000,
	REPORT_DIFF_MAX = 512 << 10 /* bytes of all diffs */
};

struct report_host {
	const char *name; /* "example.com:443" */
	unsigned long connections;
	double sent, received, seconds;
	int64_t first, last; /* milliseconds since 1970 */
};

struct report_moment {
	int64_t time;
	enum { MOMENT_CONNECTION, MOMENT_DENIED, MOMENT_LIMIT, MOMENT_RULE, MOMENT_OTHER } kind;
	const char *text; /* safe for a terminal */
	unsigned long count;
};

struct report_change {
	char status; /* as 'wrapix diff --stat' has it */
	const char *path;
	const char *diff; /* NULL: none, or no room for it */
};

struct report {
	struct arena arena;
	struct lessons lessons; /* what was refused; also the session's name and place */
	const char *network;
	int64_t started, ended; /* ended 0: it runs, or was killed */
	int status;             /* -1: not known */
	double cpu, memory;     /* seconds; bytes of the largest process; -1: not known */
	double peak_memory, peak_processes; /* of the whole sandbox at once; -1: not known */
	unsigned long lost;                 /* events that are not in the log */
	struct report_host *hosts;
	size_t n_hosts;
	struct report_moment *moments;
	size_t n_moments;
	unsigned long more_moments;
	struct strv limits;
	bool is_cow;
	struct report_change *changes;
	size_t n_changes;
};

void report_add_html(struct str *out, const struct report *report);
void report_add_markdown(struct str *out, const struct report *report);
void report_add_json(struct str *out, const struct report *report);

/* "2026-11-15 12:00:00", local. */
void report_add_time(struct str *out, int64_t milliseconds);
/* "12 s", "3.4 s" */
void report_add_seconds(struct str *out, double seconds);
/* "3.4 MiB" */
void report_add_bytes(struct str *out, double bytes);
