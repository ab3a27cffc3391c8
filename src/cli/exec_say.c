/* SPDX-License-Identifier: MIT */
/* What is said while a command runs, and to whom: to a person, an agent or a program. */
#include "cli/exec_say.h"

#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "os/fs.h"
#include "os/stdio.h"

enum { REPORT_MAX = 16 << 20 }; /* bytes */

/* While a command has the terminal it is in raw mode. */
void speaker_line(const char *line)
{
	_cleanup_str_ struct str out = { 0 };

	str_addf(&out, "%s%s", line, isatty(STDERR_FILENO) ? "\r\n" : "\n");
	fflush(stdout);
	(void)os_stdio_write(STDERR_FILENO, out.s, out.len);
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
		str_add_line(&line, text);
	}
	speaker_line(line.s);
}

void speaker_warning(void *ctx, const char *text)
{
	const struct speaker *s = ctx;

	say(s, "warning", s->args->srt ? "Warning: " : "wrapix: warning: ", text);
}

void speaker_debug(void *ctx, const char *text)
{
	const struct speaker *s = ctx;

	if (s->debug)
		say(s, "debug", "[SandboxDebug] ", text);
}

/* Of a log srt's users know nothing. */
void speaker_unlogged(void *ctx, const char *text)
{
	const struct speaker *s = ctx;

	(s->args->srt && !s->args->json ? speaker_debug : speaker_warning)(ctx, text);
}

/* Scripts that know srt's words get none that it does not say. */
void speaker_unused(void *ctx, const char *text)
{
	const struct speaker *s = ctx;

	if (s->debug || s->args->json)
		say(s, "unused", "[SandboxDebug] ", text);
}

/* Who asks for srt's switches knows what they do, and hears of it with every command. */
void speaker_weaker(void *ctx, const char *text)
{
	const struct speaker *s = ctx;

	if (s->args->srt)
		speaker_debug(ctx, text);
	else
		speaker_warning(ctx, text);
}

/* A flood costs no more than counting. */
bool speaker_counts(struct speaker *s, const char *line, bool *ret_again)
{
	if (s->debug)
		say(s, "debug", "[SandboxDebug] ", line);
	*ret_again = denials_again(&s->denials, line);
	return *ret_again && (!s->annotate || s->denials.lines.len == DENIALS_ANNOTATED);
}

void speaker_denied(struct speaker *s, bool again, const char *line, const char *text,
		    const char *change)
{
	if (!again)
		denials_add(&s->denials, line, text, change);
	if (s->annotate)
		denials_add_line(&s->denials, line, change);
}

void speaker_event(void *ctx, const char *line)
{
	struct speaker *s = ctx;
	_cleanup_str_ struct str out = { 0 };

	if (s->report == STDERR_FILENO || s->args->json)
		speaker_line(line);
	/* A command that is refused for ever must not fill the disk. */
	if (s->report <= STDERR_FILENO || s->reported >= REPORT_MAX)
		return;
	str_addf(&out, "%s\n", line);
	s->reported += out.len;
	if (s->reported >= REPORT_MAX)
		str_add(&out, "{\"type\":\"truncated\"}\n");
	(void)os_write_all(s->report, out.s, out.len);
}

void speaker_settings(void *ctx, bool control, const char *why)
{
	const struct speaker *s = ctx;
	char text[512];

	if (!why) {
		speaker_debug(ctx, control ? "config updated via control fd"
					   : "settings file read again");
		return;
	}
	if (control) {
		snprintf(text, sizeof(text),
			 "Invalid config on control fd %d: ignored, previous config still in force",
			 s->args->control_fd);
		say(s, "warning", "", text);
		speaker_debug(ctx, why);
		return;
	}
	snprintf(text, sizeof(text), "%.*s", (int)strcspn(why, "\n"), why);
	say(s, "warning", "", text);
	say(s, "warning", "", "The previous config is still in force.");
}

/* At the end, unless a report was asked for; srt says nothing of itself to people. */
void speaker_end(struct speaker *s)
{
	if (s->annotate)
		denials_annotate(&s->denials);
	else if (!s->args->srt && s->report < 0 && !s->args->json)
		denials_print(&s->denials, NULL);
	denials_release(&s->denials);
}

/* --- errors --- */

int speaker_fail(const struct speaker *s, const struct err *err)
{
	bool command = err->exit == EXIT_NOEXEC || err->exit == EXIT_NOTFOUND;

	if (!s->args->srt && !s->args->json)
		return cli_fail(err);
	say(s, "error", "Error: ", err->msg);
	if (err->hint[0])
		say(s, "hint", "hint: ", err->hint);
	return command || !s->args->srt ? err->exit : 1;
}

int speaker_fail_text(const struct speaker *s, const char *text)
{
	struct err err = { .code = EINVAL, .exit = EXIT_USAGE };

	if (s->args->srt) {
		say(s, "error", "Error: ", text);
		return 1;
	}
	snprintf(err.msg, sizeof(err.msg), "%s", text);
	return speaker_fail(s, &err);
}

/* The two lines of settings that are wrong, which hold other people's words. */
int speaker_fail_settings(const struct speaker *s, const char *why)
{
	for (const char *p = why; *p;) {
		_cleanup_str_ struct str line = { 0 };
		size_t len = strcspn(p, "\n");

		str_addn(&line, p, len);
		if (s->args->json)
			say(s, "error", "", line.s);
		else
			speaker_line(line.s);
		p += len + (p[len] == '\n');
	}
	return s->args->srt ? 1 : EXIT_USAGE;
}
