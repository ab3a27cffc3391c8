/* SPDX-License-Identifier: MIT */
/*
 * A report as one page of HTML.
 *
 * Names, arguments and diffs in it come from inside a sandbox. Whatever they hold stays text: what a
 * reader cannot see was escaped before, the five characters of HTML are escaped here, no attribute
 * but our own is made of them, and the page has no script, no link and a policy that forbids both.
 */
#include <string.h>

#include "cli/report.h"

static const char style[] =
	":root{color-scheme:light dark;--bg:#fff;--fg:#1c2024;--soft:#5a6068;--line:#d9dde2;"
	"--box:#f5f6f8;--bad:#b3261e;--ok:#1a6e3c;--warn:#8a5300;--bar:#3b6fd4}"
	"@media(prefers-color-scheme:dark){:root{--bg:#15171a;--fg:#e6e8eb;--soft:#a2a9b2;"
	"--line:#343a41;--box:#1f2327;--bad:#ff8a80;--ok:#7fd6a0;--warn:#f0b866;--bar:#7aa5f5}}"
	"*{box-sizing:border-box}"
	"body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.5 system-ui,sans-serif}"
	"main,header{max-width:72rem;margin:0 auto;padding:0 1rem;overflow-wrap:anywhere}"
	"h1{font-size:1.5rem;margin:1.2rem 0 .2rem;overflow-wrap:anywhere}"
	"h2{font-size:1.15rem;margin:2rem 0 .6rem}"
	"code,pre{font:.9em/1.45 ui-monospace,monospace;unicode-bidi:isolate}"
	"code{overflow-wrap:anywhere}"
	".skip{position:absolute;left:-99rem}.skip:focus{position:static}"
	".soft{color:var(--soft)}.bad{color:var(--bad)}.ok{color:var(--ok)}.warn{color:var(--warn)}"
	"dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.6rem;"
	"margin:1rem 0}"
	"dl div{background:var(--box);border:1px solid "
	"var(--line);border-radius:.5rem;padding:.6rem .8rem}"
	"dt{color:var(--soft);font-size:.85rem}dd{margin:0;font-weight:600}"
	".scroll{overflow-x:auto;border:1px solid var(--line);border-radius:.5rem}"
	".scroll:focus-visible,summary:focus-visible,a:focus-visible{outline:3px solid "
	"var(--bar);outline-offset:2px}"
	"table{border-collapse:collapse;width:100%;min-width:36rem}"
	"caption{text-align:left;padding:.5rem .8rem;color:var(--soft)}"
	"th,td{text-align:left;vertical-align:top;padding:.45rem .8rem;border-top:1px solid "
	"var(--line)}"
	"th{font-size:.85rem;color:var(--soft)}tbody "
	"th{font-size:1em;color:inherit;font-weight:400}"
	".num{text-align:right;white-space:nowrap}"
	"ul,ol{padding-left:0;list-style:none;margin:0}"
	".fix{background:var(--box);border:1px solid var(--line);border-left:4px solid var(--bad);"
	"border-radius:.5rem;padding:.6rem .8rem;margin:0 0 .6rem}.fix p{margin:.15rem 0}"
	".line{position:relative;border-left:2px solid var(--line);margin-left:.4rem}"
	".line li{padding:.15rem 0 .15rem 1rem;overflow-wrap:anywhere}"
	".line li::before{content:'';position:absolute;left:-.36rem;margin-top:.5rem;width:.6rem;"
	"height:.6rem;border-radius:50%;background:var(--soft)}"
	".line .m-ok::before{background:var(--ok)}.line .m-bad::before{background:var(--bad)}"
	".line .m-warn::before{background:var(--warn)}"
	"time{color:var(--soft);font-variant-numeric:tabular-nums;margin-right:.6rem}"
	"details{border:1px solid var(--line);border-radius:.5rem;margin:0 0 "
	".4rem;background:var(--box)}"
	"summary{padding:.5rem .8rem;cursor:pointer;overflow-wrap:anywhere}"
	"pre{margin:0;padding:.6rem .8rem;overflow-x:auto;border-top:1px solid var(--line)}"
	"footer{color:var(--soft);font-size:.85rem;padding:2rem 0}";

/* Text, safe in an element. */
static void add(struct str *out, const char *text)
{
	str_add_markup(out, text);
}

/* The same for a text that nobody escaped yet. */
static void add_raw(struct str *out, const char *text)
{
	_cleanup_str_ struct str escaped = { 0 };

	str_add_escaped(&escaped, text ? text : "");
	add(out, escaped.s ? escaped.s : "");
}

/* It is quoted for a shell, which reads its backslashes. */
static void add_command(struct str *out, const char *line)
{
	_cleanup_str_ struct str seen = { 0 };

	str_add_quoted(&seen, line ? line : "");
	add(out, seen.s ? seen.s : "");
}

static void add_fact(struct str *out, const char *name, const char *value, const char *class)
{
	str_addf(out, "<div><dt>%s</dt><dd%s%s%s>", name, class ? " class=\"" : "",
		 class ? class : "", class ? "\"" : "");
	add_raw(out, value);
	str_add(out, "</dd></div>");
}

static void add_count(struct str *out, const char *name, unsigned long n, const char *class)
{
	char text[32];

	snprintf(text, sizeof(text), "%lu", n);
	add_fact(out, name, text, n ? class : NULL);
}

static void add_head(struct str *out, const struct report *r)
{
	const struct lessons *l = &r->lessons;

	str_add(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
		     "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
		     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		     "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">"
		     "<meta name=\"referrer\" content=\"no-referrer\"><title>wrapix: session ");
	add_raw(out, l->id);
	str_addf(out,
		 "</title><style>%s</style></head><body>\n"
		 "<a class=\"skip\" href=\"#main\">to the report</a><header><h1>",
		 style);
	str_add(out, "Session ");
	add_raw(out, l->name && *l->name ? l->name : l->id);
	str_add(out, "</h1><p class=\"soft\"><code>");
	add_command(out, l->command);
	str_add(out, "</code><br>in <code>");
	add_raw(out, l->dir);
	str_add(out, "</code></p></header>\n<main id=\"main\">");
}

static void add_peaks(struct str *out, const struct report *r)
{
	_cleanup_str_ struct str cpu = { 0 }, memory = { 0 }, all = { 0 };

	if (r->cpu >= 0) {
		report_add_seconds(&cpu, r->cpu);
		add_fact(out, "processor time", cpu.s, NULL);
	}
	if (r->peak_memory >= 0) {
		report_add_bytes(&all, r->peak_memory);
		add_fact(out, "most memory at once", all.s, NULL);
	}
	if (r->memory >= 0) {
		report_add_bytes(&memory, r->memory);
		add_fact(out, "largest process", memory.s, NULL);
	}
	if (r->peak_processes >= 0)
		add_count(out, "most processes at once", (unsigned long)r->peak_processes, NULL);
}

static void add_facts(struct str *out, const struct report *r)
{
	_cleanup_str_ struct str began = { 0 }, took = { 0 };
	char status[64];

	report_add_time(&began, r->started);
	if (r->ended)
		report_add_seconds(&took, (double)(r->ended - r->started) / 1000);
	snprintf(status, sizeof(status), "%d", r->status);
	str_add(out, "<dl>");
	add_fact(out, "began", began.s, NULL);
	add_fact(out, "took", took.len ? took.s : "it runs, or was killed", NULL);
	add_fact(out, "exit status", r->status >= 0 ? status : "none",
		 r->status == 0  ? "ok"
		 : r->status > 0 ? "bad"
				 : NULL);
	add_fact(out, "network", r->network ? r->network : "", NULL);
	add_count(out, "hosts", r->n_hosts, NULL);
	add_count(out, "refused", r->lessons.refused, "bad");
	add_count(out, "limits reached", r->limits.len, "warn");
	add_peaks(out, r);
	str_add(out, "</dl>\n");
	if (r->lost)
		str_addf(out, "<p class=\"warn\">%lu events are not in the log.</p>\n", r->lost);
}

static void add_needs(struct str *out, const struct strv *lines, const char *title)
{
	for (size_t i = 0; i < lines->len; i++) {
		if (i)
			str_add(out, ", <code>");
		else
			str_addf(out, "<p class=\"soft\">%s <code>", title);
		add_command(out, lines->v[i]);
		str_add(out, "</code>");
	}
	str_add(out, lines->len ? "</p>" : "");
}

static void add_lesson(struct str *out, const struct report *r, const struct lesson *lesson)
{
	_cleanup_str_ struct str act = { 0 }, why = { 0 }, fix = { 0 };

	denial_add_act(&act, &lesson->denial, r->lessons.place.home);
	denial_add_why(&why, &lesson->denial);
	fix_add_text(&fix, &lesson->fix);
	str_add(out, "<li class=\"fix\"><p><strong>");
	add(out, act.s);
	str_add(out, "</strong>");
	if (lesson->count > 1)
		str_addf(out, " <span class=\"soft\">%lu times</span>", lesson->count);
	str_add(out, "</p><p>");
	add(out, why.s);
	str_add(out, lesson->fix.key ? "</p><p>To allow it: <code>" : "</p><p>");
	add(out, fix.s);
	str_add(out, lesson->fix.key ? "</code></p>" : "</p>");
	if (lesson->fix.risk) {
		str_add(out, "<p class=\"warn\">Careful: ");
		add_raw(out, lesson->fix.risk);
		str_add(out, ".</p>");
	}
	add_needs(out, &lesson->commands, "needed by");
	add_needs(out, &lesson->likely, "likely needed by");
	str_add(out, "</li>\n");
}

static void add_denials(struct str *out, const struct report *r)
{
	str_add(out, "<section aria-labelledby=\"h-refused\"><h2 id=\"h-refused\">What was "
		     "refused</h2>");
	if (!r->lessons.n) {
		str_add(out, "<p>Nothing.</p></section>\n");
		return;
	}
	if (r->lessons.place.file) {
		str_add(out, "<p class=\"soft\">Changes belong into <code>");
		add_raw(out, r->lessons.place.file);
		str_add(out, "</code>; <code>wrapix learn ");
		add_raw(out, r->lessons.id);
		str_add(out, " --apply</code> writes those without a risk.</p>");
	}
	str_add(out, "<ul>");
	for (size_t i = 0; i < r->lessons.n; i++)
		if (!r->lessons.v[i].dropped)
			add_lesson(out, r, &r->lessons.v[i]);
	str_add(out, "</ul></section>\n");
}

static void add_host(struct str *out, const struct report_host *host)
{
	_cleanup_str_ struct str from = { 0 }, sent = { 0 }, received = { 0 }, took = { 0 };

	report_add_time(&from, host->first);
	report_add_bytes(&sent, host->sent);
	report_add_bytes(&received, host->received);
	report_add_seconds(&took, host->seconds);
	str_add(out, "<tr><th scope=\"row\"><code>");
	add(out, host->name);
	str_addf(out,
		 "</code></th><td class=\"num\">%lu</td><td class=\"num\">%s</td><td "
		 "class=\"num\">%s</td><td class=\"num\">%s</td><td>%s</td></tr>\n",
		 host->connections, sent.s, received.s, took.s, from.s);
}

static void add_hosts(struct str *out, const struct report *r)
{
	str_add(out,
		"<section aria-labelledby=\"h-hosts\"><h2 id=\"h-hosts\">Whom it talked to</h2>");
	if (!r->n_hosts) {
		str_add(out, "<p>Nobody that was seen.</p></section>\n");
		return;
	}
	str_add(out,
		"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"h-hosts\">"
		"<table><caption>Connections that have ended, most bytes first</caption><thead>"
		"<tr><th scope=\"col\">host</th><th scope=\"col\" class=\"num\">connections</th>"
		"<th scope=\"col\" class=\"num\">sent</th><th scope=\"col\" class=\"num\">received"
		"</th><th scope=\"col\" class=\"num\">open for</th><th "
		"scope=\"col\">first</th></tr>"
		"</thead><tbody>\n");
	for (size_t i = 0; i < r->n_hosts; i++)
		add_host(out, &r->hosts[i]);
	str_add(out, "</tbody></table></div></section>\n");
}

static void add_changes(struct str *out, const struct report *r)
{
	if (!r->is_cow)
		return;
	str_add(out,
		"<section aria-labelledby=\"h-changed\"><h2 id=\"h-changed\">What it changed</h2>"
		"<p class=\"soft\"><code>wrapix diff ");
	add_raw(out, r->lessons.id);
	str_add(out, "</code> shows it, <code>wrapix review ");
	add_raw(out, r->lessons.id);
	str_add(out, "</code> takes it over, piece by piece.</p>");
	for (size_t i = 0; i < r->n_changes; i++) {
		const struct report_change *c = &r->changes[i];

		str_addf(out, c->diff ? "<details><summary>%c <code>" : "<p>%c <code>", c->status);
		add(out, c->path);
		str_add(out, c->diff ? "</code></summary><pre tabindex=\"0\">" : "</code></p>");
		if (c->diff)
			add(out, c->diff);
		str_add(out, c->diff ? "</pre></details>\n" : "\n");
	}
	str_add(out, r->n_changes ? "</section>\n" : "<p>Nothing.</p></section>\n");
}

static void add_moment(struct str *out, const struct report *r, const struct report_moment *m)
{
	static const char *const classes[] = { [MOMENT_CONNECTION] = "m-ok",
					       [MOMENT_DENIED] = "m-bad",
					       [MOMENT_LIMIT] = "m-warn",
					       [MOMENT_RULE] = "m-warn",
					       [MOMENT_OTHER] = "m-other" };
	static const char *const words[] = { [MOMENT_CONNECTION] = "talked to ",
					     [MOMENT_DENIED] = "refused: ",
					     [MOMENT_LIMIT] = "limit reached: ",
					     [MOMENT_RULE] = "",
					     [MOMENT_OTHER] = "" };
	double after = (double)MAX(m->time - r->started, (int64_t)0) / 1000;

	str_addf(out, "<li class=\"%s\"><time>+%.1f s</time>%s", classes[m->kind], after,
		 words[m->kind]);
	add(out, m->text);
	if (m->count > 1)
		str_addf(out, " <span class=\"soft\">(%lu times)</span>", m->count);
	str_add(out, "</li>\n");
}

static void add_timeline(struct str *out, const struct report *r)
{
	str_add(out, "<section aria-labelledby=\"h-time\"><h2 id=\"h-time\">Timeline</h2>"
		     "<ol class=\"line\"><li><time>+0.0 s</time>began</li>\n");
	for (size_t i = 0; i < r->n_moments; i++)
		add_moment(out, r, &r->moments[i]);
	if (r->more_moments)
		str_addf(out, "<li>and %lu more</li>\n", r->more_moments);
	if (r->ended)
		str_addf(out, "<li><time>+%.1f s</time>ended with status %d</li>",
			 (double)MAX(r->ended - r->started, (int64_t)0) / 1000, r->status);
	str_add(out, "</ol></section>\n");
}

static void add_limits(struct str *out, const struct report *r)
{
	if (!r->limits.len)
		return;
	str_add(out, "<section aria-labelledby=\"h-limits\"><h2 id=\"h-limits\">Limits</h2><ul>");
	for (size_t i = 0; i < r->limits.len; i++) {
		str_add(out, "<li class=\"warn\">");
		add(out, r->limits.v[i]);
		str_add(out, "</li>\n");
	}
	str_add(out, "</ul></section>\n");
}

void report_add_html(struct str *out, const struct report *r)
{
	add_head(out, r);
	add_facts(out, r);
	add_denials(out, r);
	add_hosts(out, r);
	add_changes(out, r);
	add_limits(out, r);
	add_timeline(out, r);
	str_add(out, "<footer>Made by wrapix " WRAPIX_VERSION
		     " from the session's log. Names in it were "
		     "chosen inside the sandbox.</footer></main></body></html>\n");
}
